export { arbitraryObjectOf, arbitraryOf } from "./arbitrary.ts";
export { type ConversionCase, conversionCases } from "./conversion-laws.ts";

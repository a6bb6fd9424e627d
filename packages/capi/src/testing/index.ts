export { arbitraryObjectOf, arbitraryOf } from "./arbitrary.ts";

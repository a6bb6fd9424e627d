/** A question to the rules. */
export interface AdmissionCase {
  /** Objects that are there before; a status among them is written too. Such a case has a namespace of its own. */
  given?: object[];
  create: object;
  /** A merge patch to what was created. */
  change?: object;
  /** Where the patch goes, when not to the object itself. */
  subresource?: string;
  /** What was created is deleted. */
  remove?: true;
  /** Fields of the accepted object whose values belong to the answer, such as `spec.replicas`. */
  shows?: string[];
}

export declare const CASES: Record<string, AdmissionCase>;

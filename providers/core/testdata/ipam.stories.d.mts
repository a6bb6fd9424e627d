/** One thing a user does; `patch` is a merge patch to what is changed. */
export interface Step {
  create?: object;
  change?: object;
  patch?: object;
  remove?: object;
}

/** What happens in a namespace of its own, step by step. */
export interface Story {
  steps: Step[];
  /** Pools are read in their old version too. */
  old?: boolean;
}

export declare const STORIES: Record<string, Story>;

// End of an agent together with the worker that ran it.

/** `lost`: the worker fell silent · `returned`: it handed the work back. */
export type CutOff = { readonly kind: 'lost' | 'returned'; readonly worker: string };

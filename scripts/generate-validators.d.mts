/** The text of each generated file, by its URL. */
export declare function generateValidators(): Promise<ReadonlyMap<string, string>>;

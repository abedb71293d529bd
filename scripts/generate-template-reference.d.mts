/** The text of docs/template-reference.md. */
export declare function generateTemplateReference(): Promise<string>;

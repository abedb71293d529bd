// Made by scripts/generate-validators.mjs from schemas/. Do not edit.
import type { Validator } from './validators.ts';

export declare const validateNode: Validator<'Node'>;
export declare const validateBGPConfiguration: Validator<'BGPConfiguration'>;
export declare const validateBGPPeer: Validator<'BGPPeer'>;
export declare const validateBGPFilter: Validator<'BGPFilter'>;
export declare const validateIPPool: Validator<'IPPool'>;
export declare const validateBlockAffinity: Validator<'BlockAffinity'>;
export declare const validateService: Validator<'Service'>;
export declare const validateEndpointSlice: Validator<'EndpointSlice'>;
export declare const validateSecret: Validator<'Secret'>;
export declare const validateEndpointStatus: Validator<'EndpointStatus'>;

import { definePort, type Port } from '../base/port.ts';

/** Encrypts memory before it is stored. `boundTo` names root and place: a sealed value opens nowhere else. */
export interface Sealer {
  seal(text: string, boundTo: string): Promise<string>;
  open(sealed: string, boundTo: string): Promise<string>;
}

export const Sealer: Port<Sealer> = definePort<Sealer>('sealer');

import type { Answer } from './api.ts';
import type { PayerApi } from './payer-api.ts';
import type { Chip, ChipList, ChipProof, RegisterChipBody, UpdateChipBody } from './types/payer.ts';

export interface ChipsApi {
  /** Lists all chips, following every page. */
  chips(): Promise<Answer<ChipList>>;
  /** Returns the message that a chip must sign to be registered. */
  chipProof(address: string): Promise<Answer<ChipProof>>;
  registerChip(body: RegisterChipBody): Promise<Answer<Chip>>;
  changeChip(id: string, body: UpdateChipBody): Promise<Answer<Chip>>;
  deleteChip(id: string): Promise<Answer<unknown>>;
}

export function chipsOf({ ask }: Pick<PayerApi, 'ask'>): ChipsApi {
  return {
    chips: () => ask({ path: '/chips' }),
    chipProof: (address) => ask({ path: '/chips/proof', query: { address } }),
    registerChip: (body) => ask({ method: 'POST', path: '/chips', body }),
    changeChip: (id, body) => ask({ method: 'PATCH', path: `/chips/${id}`, body }),
    deleteChip: (id) => ask({ method: 'DELETE', path: `/chips/${id}` }),
  };
}

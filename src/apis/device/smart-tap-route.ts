import Type from 'typebox';
import { terminalInactive } from '#accounts/recheck-credentials.ts';
import { deviceRoute } from '#apis/device/device-route.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { proveCollector } from '#terminals/smart-tap.ts';

function bytes(length: number, description: string) {
  const pattern = `^[0-9a-f]{${2 * length}}$`;
  return Type.String({ pattern, description: `${description} ${length} bytes in hex.` });
}

const TapToProve = Type.Object({
  reader_nonce: bytes(32, 'The reader’s nonce of this tap.'),
  phone_nonce: bytes(32, 'The phone’s nonce of this tap.'),
  reader_key: bytes(33, 'The reader’s ephemeral key of this tap (P-256, compressed).'),
});

const CollectorProofSchema = Type.Object(
  {
    collector_id: Type.Integer({ description: 'The collector id of this network at Google.' }),
    key_version: Type.Integer({
      description: 'The version by which the phone selects the public key.',
    }),
    signature: Type.String({ pattern: '^([0-9a-f]{2})+$', description: 'ECDSA, DER, in hex.' }),
  },
  {
    title: 'CollectorProof',
    description: 'The data that a phone requests from the reader of a terminal.',
  },
);

/**
 * Returns the route that signs taps for a reader, so that the network's private key never leaves
 * the service.
 */
export function smartTapRoute(ctx: ApiContext) {
  return deviceRoute<undefined, typeof TapToProve>({
    method: 'POST',
    path: '/smart_tap',
    operationId: 'proveCollector',
    moves: 'nothing',
    summary: 'Prove to a phone with Google Wallet that this reader belongs to the network',
    description:
      'In the middle of a tap (Smart Tap 2.1). `not_configured`: Smart Tap is off for this ' +
      'terminal, or the network has no key.',
    body: TapToProve,
    bodyExample: {
      reader_nonce: '5c'.repeat(32),
      phone_nonce: 'a7'.repeat(32),
      reader_key: `02${'4d'.repeat(32)}`,
    },
    responses: {
      200: {
        schema: CollectorProofSchema,
        description: 'The data that the reader sends to the phone.',
        example: {
          collector_id: 20_180_608,
          key_version: 1,
          signature: `30440220${'1f'.repeat(32)}0220${'2e'.repeat(32)}`,
        },
      },
    },
    errors: ['kyb_required', 'terminal_inactive', 'not_configured'],
    handle: async ({ caller, body }) => {
      if (!caller.active) return terminalInactive();
      const proof = await proveCollector(ctx.db, ctx.keys.card, caller, {
        readerNonce: Buffer.from(body.reader_nonce, 'hex'),
        phoneNonce: Buffer.from(body.phone_nonce, 'hex'),
        readerKey: Buffer.from(body.reader_key, 'hex'),
      });
      if (isRefusal(proof)) return proof;
      return answerWith(200, {
        collector_id: proof.collectorId,
        key_version: proof.keyVersion,
        signature: proof.signature.toString('hex'),
      });
    },
  });
}

/**
 * Test files that `npm test` leaves to the long run, with reasons (test/README.md). `npm test --
 * <part of a name>` and `--changed` still run them, and `test/long/later.test.ts` runs all of them
 * before an issue is resolved or a version is released.
 */
export const LATER: Readonly<Record<string, string>> = {
  ...because('a detail of a screen whose journey runs in `npm test`', [
    'web/dashboard/pages/books.browser.test.ts',
    'web/dashboard/pages/developers.browser.test.ts',
    'web/dashboard/pages/first-steps.browser.test.ts',
    'web/dashboard/pages/insight.browser.test.ts',
    'web/dashboard/pages/languages.browser.test.ts',
    'web/dashboard/pages/long-list.browser.test.ts',
    'web/dashboard/pages/signed-out.browser.test.ts',
    'web/dashboard/pages/offline-payments.browser.test.ts',
    'web/dashboard/pages/organization.browser.test.ts',
    'web/dashboard/pages/owner.browser.test.ts',
    'web/dashboard/pages/roles.browser.test.ts',
    'web/dashboard/pages/shop.browser.test.ts',
    'web/testing/docs-try.browser.test.ts',
    'web/front/lan.browser.test.ts',
    'web/operator/access.browser.test.ts',
    'web/operator/alarms.browser.test.ts',
    'web/operator/offline-rule.browser.test.ts',
    'web/operator/policy.browser.test.ts',
    'web/operator/smart-tap.browser.test.ts',
    'web/operator/support.browser.test.ts',
    'web/operator/two-people.browser.test.ts',
    'web/pay/bad-input.browser.test.ts',
    'web/terminal/bad-input.browser.test.ts',
    'web/terminal/counter.browser.test.ts',
    'web/terminal/display.browser.test.ts',
    'web/terminal/interruptions.browser.test.ts',
    'web/terminal/network.browser.test.ts',
    'web/terminal/offline-cameras.browser.test.ts',
    'web/terminal/offline-cart.browser.test.ts',
    'web/terminal/offline-languages.browser.test.ts',
    'web/terminal/offline-limits.browser.test.ts',
    'web/terminal/offline-queue.browser.test.ts',
    'web/terminal/offline-records.browser.test.ts',
    'web/terminal/pair-device.browser.test.ts',
    'web/terminal/panes.browser.test.ts',
    'web/terminal/people.browser.test.ts',
    'web/terminal/price-details.browser.test.ts',
    'web/terminal/printer.browser.test.ts',
    'web/terminal/readers.browser.test.ts',
    'web/terminal/refund.browser.test.ts',
    'web/terminal/shift.browser.test.ts',
    'web/terminal/signer.browser.test.ts',
    'web/terminal/usb-reader.browser.test.ts',
    'web/ui/looks.browser.test.ts',
    'web/wallet/bad-input.browser.test.ts',
    'web/wallet/cards.browser.test.ts',
    'web/wallet/chips.browser.test.ts',
    'web/wallet/clock.browser.test.ts',
    'web/wallet/consent.browser.test.ts',
    'web/wallet/keys.browser.test.ts',
    'web/wallet/languages.browser.test.ts',
    'web/wallet/limits.browser.test.ts',
    'web/wallet/no-permit.browser.test.ts',
    'web/wallet/pins.browser.test.ts',
    'web/wallet/pay-offline.browser.test.ts',
    'web/wallet/ring.browser.test.ts',
    'web/wallet/rings.browser.test.ts',
    'web/wallet/send.browser.test.ts',
    'web/wallet/revoke-approvals.browser.test.ts',
  ]),
  ...because(
    'one step more at which processes die; `payment`, `recovery` and `facilitator` have some',
    [
      'test/faults/books.test.ts',
      'test/faults/deadline.test.ts',
      'test/faults/failpoints.test.ts',
      'test/faults/recovery-cases.test.ts',
      'test/faults/recovery-dies.test.ts',
      'test/faults/recovery-lost-time.test.ts',
      'test/faults/recovery-people.test.ts',
      'test/faults/recovery-move.test.ts',
      'test/faults/recovery-nodes.test.ts',
      'test/faults/recovery-put-back.test.ts',
      'test/faults/wallet-changes.test.ts',
      'test/faults/smoke.test.ts',
      'test/faults/ways.test.ts',
    ],
  ),
  ...because(
    'whole processes beside a stolen key; `foreign-key.test.ts` and `src/watch` have the rules',
    ['test/faults/foreign-keys.test.ts', 'test/faults/watchtower.test.ts'],
  ),
  ...because(
    'whole processes at nodes that misbehave; `src/settlement` has a test for each way of it',
    [
      'src/settlement/chain/back-ends.test.ts',
      'test/faults/odd-nodes.test.ts',
      'test/journeys/unreachable-node.test.ts',
    ],
  ),
  ...because('processes replaced, or two releases side by side; `payment` kills and restarts one', [
    'test/journeys/rolling-restart.test.ts',
    'test/journeys/stopped-early.test.ts',
    'test/journeys/two-releases.test.ts',
  ]),
  ...because(
    'whole processes; the parts (settings, moves, metrics, traces) have tests beside the code',
    [
      'test/cli/init.test.ts',
      'test/cli/mcp-http.test.ts',
      'test/deploy/container-backup.test.ts',
      'test/deploy/web-build.test.ts',
      'test/journeys/new-contract.test.ts',
      'test/journeys/operate.test.ts',
      'test/journeys/ops-port.test.ts',
      'test/journeys/start-errors.test.ts',
      'test/journeys/trace.test.ts',
    ],
  ),
  ...because('half a minute of an outage; `test/long/outage.test.ts` has one of minutes', [
    'web/terminal/outage.browser.test.ts',
  ]),
  ...because('screens in the pseudo-language; `texts.test.ts` finds hard-coded and missing texts', [
    'web/dashboard/languages.browser.test.ts',
    'web/pay/languages.browser.test.ts',
    'web/terminal/languages.browser.test.ts',
  ]),
  ...because(
    'a day on the real USDC; `relayer-blocked`, `token` and `gas.json` have its rules and costs',
    ['test/journeys/real-usdc.test.ts'],
  ),
  ...because('four journeys on translated pages; `translated.test.ts` of the long run has all', [
    'web/ui/text/translated.browser.test.ts',
  ]),
  ...because('the docs site in a browser; `test/docs/site.test.ts` reads its pages', [
    'web/testing/docs-site.browser.test.ts',
  ]),
  ...because('the examples of the guides, each with the service that it needs', [
    'test/examples/examples.test.ts',
  ]),
  ...because('a journey of the long run, which runs all of them (test/long/people.test.ts)', [
    'test/journeys/people/quick.browser.test.ts',
  ]),
  ...because('it compiles the contract once more, from the input that explorers get', [
    'contracts/verification.test.ts',
  ]),
  ...because('packs, installs and starts a package as a stranger does; its own tests run before', [
    'test/packages/built.test.ts',
    'test/packages/pack.test.ts',
    'test/packages/publish.test.ts',
    'test/packages/quickstart.test.ts',
    'test/sdk/network.test.ts',
    'test/x402/clients.test.ts',
  ]),
  ...because('a chain and a network of its own; `chain-rules` reads addresses in each case', [
    'test/x402/lower-case.test.ts',
  ]),
  ...because('every command of `npm run chain`, each as a process', [
    'src/ops/contract-command.test.ts',
    'src/ops/deploy-contract.test.ts',
  ]),
  ...because('a sale for each byte of a conversation; `zvt-register.test.ts` cuts some', [
    'test/reader/zvt-cuts.test.ts',
  ]),
  ...because('it needs a package of Debian, and takes a minute where that is installed', [
    'test/deploy/alert-rules.test.ts',
  ]),
  ...because('wrong requests of other surfaces; `fuzz.test.ts` sends them to the merchant API', [
    'test/api/fuzz-surfaces.test.ts',
  ]),
  ...because('it fills a disk and connections up to their limits', [
    'test/faults/exhaustion.test.ts',
  ]),
};

function because(reason: string, files: readonly string[]): Record<string, string> {
  return Object.fromEntries(files.map((file) => [file, reason]));
}

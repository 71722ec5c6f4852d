// Hand-written bugs in the limits on a stolen key, and in the checks of signatures.

import type { Mutation } from '../../test/mutations/mutation.ts';
import { GOVERNANCE_MUTATIONS } from './list-governance.ts';
import { OUTFLOW_MUTATIONS } from './list-outflow.ts';

export const GUARD_MUTATIONS: readonly Mutation[] = [
  ...OUTFLOW_MUTATIONS,
  ...GOVERNANCE_MUTATIONS,
  {
    name: 'pausing settling lifts the pause of refunds',
    file: 'Governance.sol',
    from: '_ledger = _ledger.withSettlingPaused(true);',
    to:
      '_ledger = _ledger.withSettlingPaused(true);\n' +
      '        _outflow = _outflow.withRefundingPaused(false);',
  },
  {
    name: 'pausing refunds lifts the pause of settling',
    file: 'Governance.sol',
    from: '_outflow = _outflow.withRefundingPaused(true);',
    to:
      '_outflow = _outflow.withRefundingPaused(true);\n' +
      '        _ledger = _ledger.withSettlingPaused(false);',
  },
  {
    name: 'validAfter of an authorization is ignored',
    file: 'Settlement.sol',
    from: 'authorization.validAfter,',
    to: '0,',
  },
  {
    name: 'the salt of an authorization is ignored',
    file: 'Settlement.sol',
    from: 'authorization.salt\n',
    to: 'bytes32(0)\n',
  },
  {
    name: 'any caller settles a payment separately',
    file: 'Settlement.sol',
    from: 'onlyRole(OPERATOR_ROLE)\n        nonReentrant\n        returns (uint8)',
    to: 'nonReentrant\n        returns (uint8)',
  },
  {
    name: 'a payment settles separately while another one is under way',
    file: 'Settlement.sol',
    from: 'onlyRole(OPERATOR_ROLE)\n        nonReentrant\n        returns (uint8)',
    to: 'onlyRole(OPERATOR_ROLE)\n        returns (uint8)',
  },
  {
    name: 'nothing is counted towards the ceiling',
    file: 'Batches.sol',
    from: 'batch.room -= tail.amount();',
    to: '',
  },
  {
    name: 'one atom above the ceiling settles',
    file: 'Batches.sol',
    from: 'if (tail.amount() > batch.room) return',
    to: 'if (tail.amount() > batch.room + 1) return',
  },
  {
    name: 'the ceiling is forgotten between batches',
    file: 'Batches.sol',
    from: 'ledger = ledger.withSettled(settled, block.timestamp).withBatch(batch.charges);',
    to: 'ledger = ledger.withBatch(batch.charges);',
  },
  {
    name: 'the hour of the ceiling never ends',
    file: 'PackedLedger.sol',
    from: 'if (uint16(word >> HOUR_SHIFT) != uint16(time / 1 hours)) return 0;',
    to: '',
  },
  {
    name: 'the guardian raises the ceiling',
    file: 'Governance.sol',
    from: 'if (ceiling_ >= current) revert CeilingNotLower(ceiling_, current);',
    to: '',
  },
  {
    name: 'the admin restores more than has ever waited',
    file: 'Governance.sol',
    from: 'if (ceiling_ > _approvedCeiling) revert CeilingNotApproved(ceiling_, _approvedCeiling);',
    to: '',
  },
  {
    name: 'a guardian granted later does not count',
    file: 'Governance.sol',
    from: 'if (granted && role == GUARDIAN_ROLE) ++_guardians;',
    to: 'if (granted && role == GUARDIAN_ROLE && address(this).code.length == 0) ++_guardians;',
  },
  {
    name: 'new merchants withdraw at once',
    file: 'Payouts.sol',
    from: 'if (block.timestamp < heldUntil) revert PayoutsAreHeld(block.timestamp, heldUntil);',
    to: '',
  },
  {
    name: 'a hold ends one second late',
    file: 'Payouts.sol',
    from: 'if (block.timestamp < heldUntil) revert PayoutsAreHeld',
    to: 'if (block.timestamp <= heldUntil) revert PayoutsAreHeld',
  },
  {
    name: 'a hold can begin again after it has ended',
    file: 'Merchants.sol',
    from: 'if (block.timestamp >= heldUntil) revert HoldHasEnded(block.timestamp, heldUntil);',
    to: '',
  },
  {
    name: 'a hold is shortened',
    file: 'Merchants.sol',
    from: 'if (until <= heldUntil) revert HoldNotExtended(until, heldUntil);',
    to: '',
  },
  {
    name: 'a proposal is overwritten',
    file: 'WalletChanges.sol',
    from: 'if (pending != address(0)) revert WalletAlreadyProposed(merchant, pending);',
    to: '',
  },
  {
    name: 'a wallet change lifts the hold',
    file: 'WalletChanges.sol',
    from: '(account.wallet, account.changeAnnounced) = (change.wallet, false);',
    to:
      '(account.wallet, account.changeAnnounced) = (change.wallet, false);\n' +
      '        account.heldUntil = 0;',
  },
  {
    name: 'losing any role drops the proposals of its holder',
    file: 'WalletChanges.sol',
    from: 'if (revoked && role == REGISTRAR_ROLE) _dropProposals',
    to: 'if (revoked) _dropProposals',
  },
  {
    name: 'revoking a registrar drops the proposals of all',
    file: 'WalletChanges.sol',
    from: 'role == REGISTRAR_ROLE) _dropProposals(account);',
    to: 'role == REGISTRAR_ROLE) _dropProposals(address(0));',
  },
  {
    name: 'any caller drops all proposals',
    file: 'WalletChanges.sol',
    from: 'function dropWalletChanges() external onlyRole(GUARDIAN_ROLE) {',
    to: 'function dropWalletChanges() external {',
  },
  {
    name: 'a watcher cancels what the merchant proposed itself',
    file: 'WalletChanges.sol',
    from: 'hasRole(WATCH_ROLE, msg.sender) && hasRole(REGISTRAR_ROLE, change.proposer);',
    to: 'hasRole(WATCH_ROLE, msg.sender);',
  },
  {
    name: 'any caller cancels what the registrar proposed',
    file: 'WalletChanges.sol',
    from: 'hasRole(WATCH_ROLE, msg.sender) && hasRole(REGISTRAR_ROLE, change.proposer);',
    to: 'hasRole(REGISTRAR_ROLE, change.proposer);',
  },
  {
    name: 'a watcher drops all proposals',
    file: 'WalletChanges.sol',
    from: 'function dropWalletChanges() external onlyRole(GUARDIAN_ROLE) {',
    to: 'function dropWalletChanges() external onlyRole(WATCH_ROLE) {',
  },
  {
    name: 'a watcher cannot pause',
    file: 'Governance.sol',
    from: 'if (!hasRole(WATCH_ROLE, msg.sender)) _checkRole(GUARDIAN_ROLE);',
    to: '_checkRole(GUARDIAN_ROLE);',
  },
  {
    name: 'an operator pays out while another wallet is announced',
    file: 'Payouts.sol',
    from: 'if (pending != address(0)) revert WalletChangePending(merchant, pending);',
    to: '',
  },
  {
    name: 'the treasurer sweeps the money of all merchants',
    file: 'Settlement.sol',
    from: 'if (address(stray) == address(TOKEN)) revert AddressInvalid(address(stray));',
    to: '',
  },
  {
    name: 'a delegated account cannot sign with its key',
    file: 'SpendingPolicies.sol',
    from: 'recovered == signer) return true;',
    to: 'recovered == signer && signer.code.length == 0) return true;',
  },
  {
    name: 'any policy counts as the current one',
    file: 'PackedPolicy.sol',
    from: 'return difference >> SPENT_AND_PERIOD_BITS == 0;',
    to: 'return difference >> 128 == 0;',
  },
  {
    name: 'a front-run policy spoils the enrollment',
    file: 'SpendingPolicies.sol',
    from: '!_policies[payer].policy.hasTermsOf(_pack(policy))\n                || ',
    to: 'true || ',
  },
  {
    name: 'terms in force leave their signature to any caller',
    file: 'SpendingPolicies.sol',
    from: '|| _hasSigned(payer, structHash, signature)\n        )',
    to: ')',
  },
  {
    name: 'a bad signature over terms in force voids the good ones',
    file: 'SpendingPolicies.sol',
    from: 'structHash = _policyHash(payer, policy, nonces(payer), deadline);',
    to: 'structHash = _policyHash(payer, policy, _useNonce(payer), deadline);',
  },
  {
    name: 'the balance of the last merchant does not count as owed',
    file: 'SettlementLens.sol',
    from: `for (uint256 i = first; i <= last; ++i) {
            (, uint56 balance,) = SETTLEMENT.merchantAccount(uint32(i));
            owed`,
    to: `for (uint256 i = first; i < last; ++i) {
            (, uint56 balance,) = SETTLEMENT.merchantAccount(uint32(i));
            owed`,
  },
  {
    name: "only the last merchant's balance counts as owed",
    file: 'SettlementLens.sol',
    from: 'owed += balance;',
    to: 'owed = balance;',
  },
  {
    name: "the acquirer's fees count for nothing",
    file: 'SettlementLens.sol',
    from: 'fees = ledger.acquirerFees() + ledger.protocolFees();',
    to: 'fees = ledger.protocolFees();',
  },
];

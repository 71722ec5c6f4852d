// Hand-made bugs in what limits a stolen key, and in checks of signatures.

import type { Mutation } from '../../test/mutations/mutation.ts';
import { OUTFLOW_MUTATIONS } from './list-outflow.ts';

export const GUARD_MUTATIONS: readonly Mutation[] = [
  ...OUTFLOW_MUTATIONS,
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
    name: 'anybody settles a payment separately',
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
    name: 'a contract is deployed for no token',
    file: 'Settlement.sol',
    from: 'if (address(token) == address(0)) revert AddressInvalid(address(token));',
    to: '',
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
    name: 'the admin raises the ceiling at once',
    file: 'Governance.sol',
    from: 'if (block.timestamp < applicableAt) revert TooEarly(block.timestamp, applicableAt);',
    to: '',
  },
  {
    name: 'announcements never lapse',
    file: 'Governance.sol',
    from: 'if (block.timestamp > until) revert Lapsed(block.timestamp, until);',
    to: '',
  },
  {
    name: 'a raise survives that the ceiling is lowered',
    file: 'Governance.sol',
    from: 'delete _scheduledCeiling;\n        _setCeiling(ceiling_);',
    to: '_setCeiling(ceiling_);',
  },
  {
    name: 'the admin restores more than has ever waited',
    file: 'Governance.sol',
    from: 'if (ceiling_ > _approvedCeiling) revert CeilingNotApproved(ceiling_, _approvedCeiling);',
    to: '',
  },
  {
    name: 'the guardian restores the ceiling',
    file: 'Governance.sol',
    from: 'restoreCeiling(uint24 ceiling_) external onlyRole(DEFAULT_ADMIN_ROLE)',
    to: 'restoreCeiling(uint24 ceiling_) external onlyRole(GUARDIAN_ROLE)',
  },
  {
    name: 'a raised ceiling cannot be restored',
    file: 'Governance.sol',
    from: '_approveCeiling(scheduled.ceiling);',
    to: '_setCeiling(scheduled.ceiling);',
  },
  {
    name: 'the last guardian goes at once',
    file: 'Governance.sol',
    from:
      'if (applicableAt == 0) revert LastGuardianStays();\n' +
      '        _requireApplicable(applicableAt);',
    to: '',
  },
  {
    name: 'an announced last revocation need not wait',
    file: 'Governance.sol',
    from: 'LastGuardianStays();\n        _requireApplicable(applicableAt);',
    to: 'LastGuardianStays();',
  },
  {
    name: 'one announcement is good for every last guardian',
    file: 'Governance.sol',
    from: 'delete _lastGuardianUntil;',
    to: '',
  },
  {
    name: 'a guardian granted later does not count',
    file: 'Governance.sol',
    from: 'if (granted && role == GUARDIAN_ROLE) ++_guardians;',
    to: 'if (granted && role == GUARDIAN_ROLE && address(this).code.length == 0) ++_guardians;',
  },
  {
    name: 'anybody announces that the last guardian goes',
    file: 'Governance.sol',
    from: 'announceLastRevocation() external onlyRole(DEFAULT_ADMIN_ROLE) {',
    to: 'announceLastRevocation() external {',
  },
  {
    name: 'a contract without a guardian is deployed',
    file: 'Governance.sol',
    from: 'if (_guardians == 0) revert LastGuardianStays();',
    to: '',
  },
  {
    name: 'a role is granted without an announcement',
    file: 'Governance.sol',
    from: 'if (applicableAt == 0) revert NoGrantAnnounced(role, account);\n        _require',
    to: 'if (applicableAt != 0) _require',
  },
  {
    name: 'one announcement is good for many grants',
    file: 'Governance.sol',
    from: 'delete _announcedGrants[role][account];\n        super',
    to: 'super',
  },
  {
    name: 'anybody drops announced rates',
    file: 'Governance.sol',
    from: '_requireAdminOrGuardian();\n        if (_scheduledRates',
    to: 'if (_scheduledRates',
  },
  {
    name: 'new merchants withdraw at once',
    file: 'Merchants.sol',
    from: 'if (block.timestamp < heldUntil) revert PayoutsAreHeld(block.timestamp, heldUntil);',
    to: '',
  },
  {
    name: 'a hold ends one second late',
    file: 'Merchants.sol',
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
    name: 'a hold has no end',
    file: 'Merchants.sol',
    from: 'if (until > allowed) revert HoldTooLong(until, allowed);',
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
    file: 'Merchants.sol',
    from: 'if (pending != address(0)) revert WalletAlreadyProposed(merchant, pending);',
    to: '',
  },
  {
    name: 'a wallet cancels for ever',
    file: 'Merchants.sol',
    from: '_countCancellation(merchant);\n        }',
    to: '}',
  },
  {
    name: 'a wallet wears its right to cancel proposals of the registrar down',
    file: 'Merchants.sol',
    from: ' && msg.sender == change.proposer) {',
    to: ') {',
  },
  {
    name: 'a cancellation of any merchant counts for all',
    file: 'Merchants.sol',
    from: 'MerchantHistory storage history = _histories[merchant];',
    to: 'MerchantHistory storage history = _histories[merchant * 0];',
  },
  {
    name: 'a wallet change lifts the hold',
    file: 'Merchants.sol',
    from: '(account.wallet, account.changeAnnounced) = (change.wallet, false);',
    to:
      '(account.wallet, account.changeAnnounced) = (change.wallet, false);\n' +
      '        account.heldUntil = 0;',
  },
  {
    name: 'a proposal of a wallet never lapses',
    file: 'Merchants.sol',
    from: 'if (block.timestamp > applicableAt + ANNOUNCEMENT_LIFE) return change;',
    to: '',
  },
  {
    name: 'a lapsed proposal keeps a new one out',
    file: 'Merchants.sol',
    from:
      '_pendingChange(merchant).wallet;\n' +
      '        if (pending != address(0)) revert WalletAlreadyProposed',
    to:
      '_walletChanges[merchant].wallet;\n' +
      '        if (pending != address(0)) revert WalletAlreadyProposed',
  },
  {
    name: 'the guardian drops no proposals',
    file: 'Merchants.sol',
    from: 'proposedAt <= _droppedAt[address(0)] || ',
    to: '',
  },
  {
    name: 'a proposal of the second in which all are dropped stays',
    file: 'Merchants.sol',
    from: 'proposedAt <= _droppedAt[address(0)]',
    to: 'proposedAt < _droppedAt[address(0)]',
  },
  {
    name: 'the proposals of a revoked registrar stay',
    file: 'Merchants.sol',
    from: ' || proposedAt <= _droppedAt[proposer]',
    to: '',
  },
  {
    name: 'losing any role drops the proposals of its holder',
    file: 'Merchants.sol',
    from: 'if (revoked && role == REGISTRAR_ROLE) _dropProposals',
    to: 'if (revoked) _dropProposals',
  },
  {
    name: 'revoking a registrar drops the proposals of all',
    file: 'Merchants.sol',
    from: 'role == REGISTRAR_ROLE) _dropProposals(account);',
    to: 'role == REGISTRAR_ROLE) _dropProposals(address(0));',
  },
  {
    name: 'anybody drops all proposals',
    file: 'Merchants.sol',
    from: 'function dropWalletChanges() external onlyRole(GUARDIAN_ROLE) {',
    to: 'function dropWalletChanges() external {',
  },
  {
    name: 'a watcher cancels what the merchant proposed itself',
    file: 'Merchants.sol',
    from: 'hasRole(WATCH_ROLE, msg.sender) && hasRole(REGISTRAR_ROLE, change.proposer);',
    to: 'hasRole(WATCH_ROLE, msg.sender);',
  },
  {
    name: 'anybody cancels what the registrar proposed',
    file: 'Merchants.sol',
    from: 'hasRole(WATCH_ROLE, msg.sender) && hasRole(REGISTRAR_ROLE, change.proposer);',
    to: 'hasRole(REGISTRAR_ROLE, change.proposer);',
  },
  {
    name: 'a watcher drops all proposals',
    file: 'Merchants.sol',
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
    name: 'a watcher drops what the admin announced',
    file: 'Governance.sol',
    from: 'if (!hasRole(GUARDIAN_ROLE, msg.sender)) _checkRole(DEFAULT_ADMIN_ROLE);',
    to: 'if (!hasRole(WATCH_ROLE, msg.sender)) _checkRole(DEFAULT_ADMIN_ROLE);',
  },
  {
    name: 'an operator pays out while another wallet is announced',
    file: 'Merchants.sol',
    from: 'if (pending != address(0)) revert WalletChangePending(merchant, pending);',
    to: '',
  },
  {
    name: 'a wallet cancels once only',
    file: 'Merchants.sol',
    from: 'history.canceledBefore = history.canceledAt;',
    to: 'history.canceledBefore = uint48(block.timestamp);',
  },
  {
    name: 'the treasurer sweeps the money of all',
    file: 'Settlement.sol',
    from: 'if (address(stray) == address(TOKEN)) revert AddressInvalid(address(stray));',
    to: '',
  },
  {
    name: 'a wallet that answers anything has signed',
    file: 'SpendingPolicies.sol',
    from: '&& abi.decode(answer, (bytes32)) == bytes32(IERC1271.isValidSignature.selector);',
    to: ';',
  },
  {
    name: 'the gas of a wallet is not limited',
    file: 'SpendingPolicies.sol',
    from: 'wallet.staticcall{gas: SIGNATURE_GAS}(',
    to: 'wallet.staticcall(',
  },
  {
    name: 'a delegated account cannot sign with its key',
    file: 'SpendingPolicies.sol',
    from: 'recovered == signer) return true;',
    to: 'recovered == signer && signer.code.length == 0) return true;',
  },
  {
    name: 'any policy is taken for the one in force',
    file: 'PackedPolicy.sol',
    from: 'return difference >> SPENT_AND_PERIOD_BITS == 0;',
    to: 'return difference >> 128 == 0;',
  },
  {
    name: 'a front-run policy spoils the enrolment',
    file: 'SpendingPolicies.sol',
    from: '!_policies[payer].policy.hasTermsOf(_pack(policy))\n                || ',
    to: 'true || ',
  },
  {
    name: 'terms in force leave their signature to anybody',
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
    name: 'the preflight overlooks the blocklist',
    file: 'SettlementLens.sol',
    from: 'return _isBlocked(payer) ? Reason.TRANSFER_REFUSED : Reason.NONE;',
    to: 'return Reason.NONE;',
  },
  {
    name: 'what is owed to the last merchant is left out',
    file: 'SettlementLens.sol',
    from: `for (uint256 i = first; i <= last; ++i) {
            (, uint96 balance,) = SETTLEMENT.merchantAccount(uint32(i));
            owed`,
    to: `for (uint256 i = first; i < last; ++i) {
            (, uint96 balance,) = SETTLEMENT.merchantAccount(uint32(i));
            owed`,
  },
  {
    name: "what is owed is the last merchant's alone",
    file: 'SettlementLens.sol',
    from: 'owed += balance;',
    to: 'owed = balance;',
  },
  {
    name: "the acquirer's fees count as nobody's",
    file: 'SettlementLens.sol',
    from: 'fees = ledger.acquirerFees() + ledger.protocolFees();',
    to: 'fees = ledger.protocolFees();',
  },
];

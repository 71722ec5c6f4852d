// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {PackedLedger} from "./PackedLedger.sol";
import {PackedOutflow} from "./PackedOutflow.sol";
import {HIGHEST_FEE_RATE} from "./PaymentTypes.sol";
import {Timelock} from "./Timelock.sol";

/// @notice Fee rates in basis points of the sale. The payer pays the acquirer fee and the protocol
/// fee on top of the sale, and gets cashback out of the protocol fee.
struct Rates {
    uint16 acquirer;
    uint16 protocol;
    uint16 cashback;
}

/// @notice The first holders of each role, and the delays.
/// @param proposers Schedule operations of the {Timelock}.
/// @param steward Lifts pauses, restores the ceiling, and revokes roles at once.
/// @param watchers Can pause, and drop the proposals of registrars; may be empty.
/// @param governanceDelay Seconds that an operation of the {Timelock} waits.
/// @param walletDelay Seconds between proposing and applying a merchant's new wallet.
/// @param payoutHold Seconds after its registration during which a merchant cannot withdraw.
/// @param hourlyCeiling The highest sum of sales per hour, in whole units of the token (10^6
/// atoms). The same limit applies to refunds.
struct Setup {
    address[] proposers;
    address steward;
    address[] operators;
    address registrar;
    address[] guardians;
    address[] watchers;
    address treasurer;
    uint48 governanceDelay;
    uint48 walletDelay;
    uint48 payoutHold;
    uint24 hourlyCeiling;
    Rates rates;
}

/// @title Roles, pauses, ceiling and fee rates.
/// @notice The only admin, forever, is a {Timelock}: a call that loosens a bound waits there, and
/// guardians can cancel it. It grants roles, sets rates (capped) and raises the ceiling. A call
/// that tightens a bound takes effect at once. Operators settle, refund and pay out withdrawals.
/// The registrar registers merchants and proposes wallets. Guardians pause, lower the ceiling, hold
/// the payouts of new merchants, and cancel operations and proposals. Watchers are programs: they
/// pause, and drop proposals of registrars. The steward lifts pauses, restores the ceiling, and
/// revokes all roles but its own. The treasurer collects fees.
/// @dev Every function that writes state which a batch caches in memory takes the batch's lock.
abstract contract Governance is AccessControl, ReentrancyGuardTransient {
    bytes32 public constant OPERATOR_ROLE = keccak256("OPERATOR_ROLE");
    bytes32 public constant REGISTRAR_ROLE = keccak256("REGISTRAR_ROLE");
    bytes32 public constant GUARDIAN_ROLE = keccak256("GUARDIAN_ROLE");
    /// @notice For the watchtower, a program. Its key is on a machine, so the role can only stop
    /// things.
    bytes32 public constant WATCH_ROLE = keccak256("WATCH_ROLE");
    bytes32 public constant STEWARD_ROLE = keccak256("STEWARD_ROLE");
    bytes32 public constant TREASURER_ROLE = keccak256("TREASURER_ROLE");

    /// @notice The highest sum of acquirer and protocol rate, in basis points.
    uint256 public constant MAX_FEE_RATE = HIGHEST_FEE_RATE;

    PackedLedger internal _ledger;
    PackedOutflow internal _outflow;

    /// @dev The highest ceiling that was set at deployment or has passed the timelock.
    uint24 private _approvedCeiling;
    uint16 private _guardians;

    event SettlingPaused(address indexed by, bool paused);
    event RefundingPaused(address indexed by, bool paused);
    event RatesApplied(uint16 acquirer, uint16 protocol, uint16 cashback);
    event CeilingApproved(uint24 ceiling);
    event CeilingChanged(uint24 ceiling, address indexed by);
    event FeesCollected(address indexed to, uint64 acquirerFees, uint64 protocolFees);

    error SettlingIsPaused();
    error RefundingIsPaused();
    error FeeRateTooHigh(uint256 attempted, uint256 allowed);
    error CashbackAboveProtocolRate(uint256 attempted, uint256 allowed);
    error CeilingNotLower(uint256 attempted, uint256 current);
    error CeilingNotHigher(uint256 attempted, uint256 current);
    error CeilingNotApproved(uint256 attempted, uint256 approved);
    error CeilingZero();
    error AdminStays();
    error LastGuardianStays();
    error TooEarly(uint256 attemptedAt, uint256 allowedFrom);
    error InsufficientFees(uint256 attempted, uint256 available);
    error AddressInvalid(address attempted);

    constructor(Setup memory setup) {
        _grantFirst(STEWARD_ROLE, setup.steward);
        _grantAll(OPERATOR_ROLE, setup.operators);
        _grantFirst(REGISTRAR_ROLE, setup.registrar);
        _grantAll(GUARDIAN_ROLE, setup.guardians);
        // At least one guardian must remain, because no other key could stop a thief at once.
        if (_guardians == 0) revert LastGuardianStays();
        _grantAll(WATCH_ROLE, setup.watchers);
        _grantFirst(TREASURER_ROLE, setup.treasurer);
        if (setup.hourlyCeiling == 0) revert CeilingZero();
        _approveCeiling(setup.hourlyCeiling);
        _setCeiling(setup.hourlyCeiling);
        _setRates(setup.rates);
    }

    /// @notice The only admin of this contract.
    function timelock() public view virtual returns (Timelock);

    /// @notice Pauses settlement. Guardians and watchers can pause; only the steward can resume.
    function pauseSettling() external nonReentrant {
        _requireGuardianOrWatcher();
        _ledger = _ledger.withSettlingPaused(true);
        emit SettlingPaused(msg.sender, true);
    }

    /// @notice Pauses refunds. Withdrawals cannot be paused, so merchants can always take their
    /// money.
    function pauseRefunding() external nonReentrant {
        _requireGuardianOrWatcher();
        _outflow = _outflow.withRefundingPaused(true);
        emit RefundingPaused(msg.sender, true);
    }

    function unpauseSettling() external onlyRole(STEWARD_ROLE) nonReentrant {
        _ledger = _ledger.withSettlingPaused(false);
        emit SettlingPaused(msg.sender, false);
    }

    function unpauseRefunding() external onlyRole(STEWARD_ROLE) nonReentrant {
        _outflow = _outflow.withRefundingPaused(false);
        emit RefundingPaused(msg.sender, false);
    }

    /// @notice Cancels operations that are scheduled in the timelock. Skips operations that are no
    /// longer pending, because another guardian may have canceled them first.
    function cancelOperations(bytes32[] calldata ids) external onlyRole(GUARDIAN_ROLE) {
        Timelock admin = timelock();
        for (uint256 i = 0; i < ids.length; ++i) {
            if (admin.isOperationPending(ids[i])) admin.cancel(ids[i]);
        }
    }

    /// @notice Lowers the hourly limit of sales and refunds at once. Withdrawals are not limited.
    function lowerCeiling(uint24 ceiling_) external onlyRole(GUARDIAN_ROLE) nonReentrant {
        uint24 current = _ledger.hourlyCeiling();
        if (ceiling_ >= current) revert CeilingNotLower(ceiling_, current);
        _setCeiling(ceiling_);
    }

    /// @notice Reverses a {lowerCeiling} at once, completely or in part, because a ceiling lowered
    /// by mistake must not stop sales for days. It can never exceed a ceiling that has already
    /// passed the timelock's delay.
    function restoreCeiling(uint24 ceiling_) external onlyRole(STEWARD_ROLE) nonReentrant {
        uint24 current = _ledger.hourlyCeiling();
        if (ceiling_ <= current) revert CeilingNotHigher(ceiling_, current);
        if (ceiling_ > _approvedCeiling) revert CeilingNotApproved(ceiling_, _approvedCeiling);
        _setCeiling(ceiling_);
    }

    /// @notice Approves a higher ceiling. It takes effect at once, unless a guardian has lowered
    /// the current one, which then stays until the steward restores it.
    function raiseCeiling(uint24 ceiling_) external onlyRole(DEFAULT_ADMIN_ROLE) nonReentrant {
        uint24 approved = _approvedCeiling;
        if (ceiling_ <= approved) revert CeilingNotHigher(ceiling_, approved);
        _approveCeiling(ceiling_);
        if (_ledger.hourlyCeiling() == approved) _setCeiling(ceiling_);
    }

    /// @notice The highest ceiling that {restoreCeiling} allows.
    function approvedCeiling() external view returns (uint24) {
        return _approvedCeiling;
    }

    function setRates(Rates calldata rates_) external onlyRole(DEFAULT_ADMIN_ROLE) nonReentrant {
        _setRates(rates_);
    }

    /// @notice Grants any role but the admin role, because the timelock is the only admin, forever.
    function grantRole(bytes32 role, address account) public override {
        if (role == DEFAULT_ADMIN_ROLE) revert AdminStays();
        super.grantRole(role, account);
    }

    /// @notice Revokes a role. The steward can do so at once, for stolen keys, except for its own
    /// role.
    function revokeRole(bytes32 role, address account) public override {
        bool byTimelock = role == DEFAULT_ADMIN_ROLE || role == STEWARD_ROLE;
        if (byTimelock || !hasRole(STEWARD_ROLE, msg.sender)) {
            super.revokeRole(role, account);
        } else {
            _revokeRole(role, account);
        }
    }

    /// @notice The number of guardians. The last one cannot be removed.
    function guardians() external view returns (uint16) {
        return _guardians;
    }

    /// @notice Pause, rates, ceiling, batches and fees in one word. {SettlementLens} decodes it.
    function ledgerWord() external view returns (PackedLedger) {
        return _ledger;
    }

    /// @notice The pause of refunds and the sum refunded in an hour, in one word. {SettlementLens}
    /// decodes it.
    function outflowWord() external view returns (PackedOutflow) {
        return _outflow;
    }

    function _takeBookedFees(address to, uint64 acquirerFees, uint64 protocolFees) internal {
        if (to == address(0) || to == address(this)) revert AddressInvalid(to);
        PackedLedger ledger = _ledger;
        uint64 acquirerBooked = ledger.acquirerFees();
        uint64 protocolBooked = ledger.protocolFees();
        if (acquirerFees > acquirerBooked) revert InsufficientFees(acquirerFees, acquirerBooked);
        if (protocolFees > protocolBooked) revert InsufficientFees(protocolFees, protocolBooked);
        _ledger = ledger.withFees(acquirerBooked - acquirerFees, protocolBooked - protocolFees);
        emit FeesCollected(to, acquirerFees, protocolFees);
    }

    function _grantRole(bytes32 role, address account)
        internal
        virtual
        override
        returns (bool granted)
    {
        granted = super._grantRole(role, account);
        if (granted && role == GUARDIAN_ROLE) ++_guardians;
    }

    /// @dev Also called if a guardian renounces its role or the timelock revokes it. The last
    /// guardian cannot be removed, because no other key could stop a thief at once; nor can the
    /// admin, without which no role could ever be granted.
    function _revokeRole(bytes32 role, address account)
        internal
        virtual
        override
        returns (bool revoked)
    {
        if (role == DEFAULT_ADMIN_ROLE) revert AdminStays();
        revoked = super._revokeRole(role, account);
        if (revoked && role == GUARDIAN_ROLE && --_guardians == 0) revert LastGuardianStays();
    }

    function _grantAll(bytes32 role, address[] memory accounts) private {
        for (uint256 i = 0; i < accounts.length; ++i) _grantFirst(role, accounts[i]);
    }

    function _grantFirst(bytes32 role, address account) private {
        if (account == address(0)) revert AddressInvalid(account);
        // A duplicate would be one account where the deployer expects two.
        if (!_grantRole(role, account)) revert AddressInvalid(account);
    }

    function _approveCeiling(uint24 ceiling_) private {
        _approvedCeiling = ceiling_;
        emit CeilingApproved(ceiling_);
    }

    function _setCeiling(uint24 ceiling_) private {
        _ledger = _ledger.withCeiling(ceiling_);
        _outflow = _outflow.withCeiling(ceiling_);
        emit CeilingChanged(ceiling_, msg.sender);
    }

    function _requireGuardianOrWatcher() internal view {
        if (!hasRole(WATCH_ROLE, msg.sender)) _checkRole(GUARDIAN_ROLE);
    }

    function _setRates(Rates memory rates_) private {
        uint256 feeRate = uint256(rates_.acquirer) + rates_.protocol;
        if (feeRate > MAX_FEE_RATE) revert FeeRateTooHigh(feeRate, MAX_FEE_RATE);
        if (rates_.cashback > rates_.protocol) {
            revert CashbackAboveProtocolRate(rates_.cashback, rates_.protocol);
        }
        _ledger = _ledger.withRates(rates_.acquirer, rates_.protocol, rates_.cashback);
        emit RatesApplied(rates_.acquirer, rates_.protocol, rates_.cashback);
    }
}

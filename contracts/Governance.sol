// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {
    AccessControlDefaultAdminRules
} from "@openzeppelin/contracts/access/extensions/AccessControlDefaultAdminRules.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {PackedLedger} from "./PackedLedger.sol";
import {PackedOutflow} from "./PackedOutflow.sol";

/// @notice Fee rates in basis points of the sale. The payer pays acquirer and protocol on top of
/// the sale and gets cashback out of the protocol fee.
struct Rates {
    uint16 acquirer;
    uint16 protocol;
    uint16 cashback;
}

/// @notice Who holds which role from the start, and the delays that bind the admin.
/// @param adminDelay Seconds between the two steps of an admin handover.
/// @param ratesDelay Seconds before new fee rates, a higher ceiling or a new holder of a role.
/// @param walletDelay Seconds between proposing and applying a merchant's new wallet.
/// @param watchers Who may pause, and cancel one proposal of the registrar at a time; may be none.
/// @param payoutHold Seconds after its registration in which a merchant cannot withdraw.
/// @param hourlyCeiling What may settle in one hour, in whole units of the token (10^6 atoms). As
/// much may leave in one hour by refunds and by withdrawals that operators pay.
struct Setup {
    address admin;
    address[] operators;
    address registrar;
    address[] guardians;
    address[] watchers;
    address treasurer;
    uint48 adminDelay;
    uint48 ratesDelay;
    uint48 walletDelay;
    uint48 payoutHold;
    uint24 hourlyCeiling;
    Rates rates;
}

/// @title Roles, pauses and fee rates.
/// @notice admin: roles (granting is delayed, revoking is not), rates (capped, delayed), a higher
/// ceiling (delayed, but back to one that has waited before at once), lifting a pause, revoking the
/// last guardian (delayed). operators: settle, refund, pay withdrawals out. registrar: merchants.
/// guardians: pausing, lowering the ceiling, holding payouts of new merchants, dropping what was
/// announced. watchers, which are programs: pausing, and canceling one proposal of the registrar at
/// a time. treasurer: booked fees.
/// @dev Every function that writes what a batch keeps in memory shares the batch's lock.
abstract contract Governance is AccessControlDefaultAdminRules, ReentrancyGuardTransient {
    bytes32 public constant OPERATOR_ROLE = keccak256("OPERATOR_ROLE");
    bytes32 public constant REGISTRAR_ROLE = keccak256("REGISTRAR_ROLE");
    bytes32 public constant GUARDIAN_ROLE = keccak256("GUARDIAN_ROLE");
    /// @notice For a program that watches: its key lies on a machine, so it can only stop.
    bytes32 public constant WATCH_ROLE = keccak256("WATCH_ROLE");
    bytes32 public constant TREASURER_ROLE = keccak256("TREASURER_ROLE");

    /// @notice The highest sum of acquirer and protocol rate, in basis points.
    uint256 public constant MAX_FEE_RATE = 300;

    /// @notice Seconds before what the admin announces can come into force: rates, a higher
    /// ceiling, a new holder of a role.
    uint48 public immutable RATES_DELAY;

    /// @notice What was announced lapses this long after it could have come into force.
    uint48 public constant ANNOUNCEMENT_LIFE = 7 days;

    struct ScheduledRates {
        Rates rates;
        uint48 applicableAt;
    }

    struct ScheduledCeiling {
        uint24 ceiling;
        uint48 applicableAt;
    }

    PackedLedger internal _ledger;
    PackedOutflow internal _outflow;
    ScheduledRates private _scheduledRates;
    ScheduledCeiling private _scheduledCeiling;
    mapping(bytes32 role => mapping(address account => uint48 applicableAt)) private _announcedGrants;

    /// @dev The last ceiling that was there from the start or waited for its delay.
    uint24 private _approvedCeiling;
    /// @dev From when on the last guardian may be revoked; zero while that is not announced.
    uint48 private _lastGuardianUntil;
    uint16 private _guardians;

    event SettlingPaused(address indexed by, bool paused);
    event RefundingPaused(address indexed by, bool paused);
    event RatesScheduled(uint16 acquirer, uint16 protocol, uint16 cashback, uint48 applicableAt);
    event RatesApplied(uint16 acquirer, uint16 protocol, uint16 cashback);
    event RatesCanceled(address indexed by);
    event CeilingScheduled(uint24 ceiling, uint48 applicableAt);
    event CeilingChanged(uint24 ceiling, address indexed by);
    event GrantAnnounced(bytes32 indexed role, address indexed account, uint48 applicableAt);
    event LastRevocationAnnounced(uint48 applicableAt);
    event GrantCanceled(bytes32 indexed role, address indexed account, address indexed by);
    event FeesCollected(address indexed to, uint64 acquirerFees, uint64 protocolFees);

    error SettlingIsPaused();
    error RefundingIsPaused();
    error FeeRateTooHigh(uint256 attempted, uint256 allowed);
    error CashbackAboveProtocolRate(uint256 attempted, uint256 allowed);
    error NoRatesScheduled();
    error NoCeilingScheduled();
    error NoGrantAnnounced(bytes32 role, address account);
    error CeilingNotLower(uint256 attempted, uint256 current);
    error CeilingNotHigher(uint256 attempted, uint256 current);
    error CeilingNotApproved(uint256 attempted, uint256 approved);
    error CeilingZero();
    error LastGuardianStays();
    error Lapsed(uint256 attemptedAt, uint256 allowedUntil);
    error TooEarly(uint256 attemptedAt, uint256 allowedFrom);
    error InsufficientFees(uint256 attempted, uint256 available);
    error AddressInvalid(address attempted);

    constructor(Setup memory setup) AccessControlDefaultAdminRules(setup.adminDelay, setup.admin) {
        RATES_DELAY = setup.ratesDelay;
        for (uint256 i = 0; i < setup.operators.length; ++i) {
            _grantFirst(OPERATOR_ROLE, setup.operators[i]);
        }
        _grantFirst(REGISTRAR_ROLE, setup.registrar);
        for (uint256 i = 0; i < setup.guardians.length; ++i) {
            _grantFirst(GUARDIAN_ROLE, setup.guardians[i]);
        }
        // Without one, nobody could stop what a stolen key does.
        if (_guardians == 0) revert LastGuardianStays();
        for (uint256 i = 0; i < setup.watchers.length; ++i) {
            _grantFirst(WATCH_ROLE, setup.watchers[i]);
        }
        _grantFirst(TREASURER_ROLE, setup.treasurer);
        if (setup.hourlyCeiling == 0) revert CeilingZero();
        _approveCeiling(setup.hourlyCeiling);
        _requireRatesAllowed(setup.rates);
        _setRates(setup.rates);
    }

    /// @notice Stops settling. Guardian and watcher can stop; only the admin can start again.
    function pauseSettling() external nonReentrant {
        _requireGuardianOrWatcher();
        _ledger = _ledger.withSettlingPaused(true);
        emit SettlingPaused(msg.sender, true);
    }

    /// @notice Stops refunds. Withdrawals have no pause: merchants can always take their money.
    function pauseRefunding() external nonReentrant {
        _requireGuardianOrWatcher();
        _outflow = _outflow.withRefundingPaused(true);
        emit RefundingPaused(msg.sender, true);
    }

    function unpauseSettling() external onlyRole(DEFAULT_ADMIN_ROLE) nonReentrant {
        _ledger = _ledger.withSettlingPaused(false);
        emit SettlingPaused(msg.sender, false);
    }

    function unpauseRefunding() external onlyRole(DEFAULT_ADMIN_ROLE) nonReentrant {
        _outflow = _outflow.withRefundingPaused(false);
        emit RefundingPaused(msg.sender, false);
    }

    /// @notice Lets less settle per hour, and less leave by operators, at once. Drops a higher ceiling
    /// that was announced. It binds no wallet that withdraws itself.
    function lowerCeiling(uint24 ceiling_) external onlyRole(GUARDIAN_ROLE) nonReentrant {
        uint24 current = _ledger.hourlyCeiling();
        if (ceiling_ >= current) revert CeilingNotLower(ceiling_, current);
        delete _scheduledCeiling;
        _setCeiling(ceiling_);
    }

    /// @notice Announces that more may settle per hour.
    function scheduleCeiling(uint24 ceiling_) external onlyRole(DEFAULT_ADMIN_ROLE) {
        uint24 current = _ledger.hourlyCeiling();
        if (ceiling_ <= current) revert CeilingNotHigher(ceiling_, current);
        uint48 applicableAt = uint48(block.timestamp) + RATES_DELAY;
        _scheduledCeiling = ScheduledCeiling(ceiling_, applicableAt);
        emit CeilingScheduled(ceiling_, applicableAt);
    }

    /// @notice Puts an announced ceiling into force. Anyone may, once the delay has passed.
    function applyCeiling() external nonReentrant {
        ScheduledCeiling memory scheduled = _scheduledCeiling;
        if (scheduled.applicableAt == 0) revert NoCeilingScheduled();
        _requireApplicable(scheduled.applicableAt);
        delete _scheduledCeiling;
        _approveCeiling(scheduled.ceiling);
    }

    /// @notice Undoes a {lowerCeiling} at once, wholly or in part: lowering by mistake must not stop
    /// sales for days, and more than has waited for its delay once is never allowed this way.
    function restoreCeiling(uint24 ceiling_) external onlyRole(DEFAULT_ADMIN_ROLE) nonReentrant {
        uint24 current = _ledger.hourlyCeiling();
        if (ceiling_ <= current) revert CeilingNotHigher(ceiling_, current);
        if (ceiling_ > _approvedCeiling) revert CeilingNotApproved(ceiling_, _approvedCeiling);
        _setCeiling(ceiling_);
    }

    /// @notice The highest ceiling that {restoreCeiling} allows.
    function approvedCeiling() external view returns (uint24) {
        return _approvedCeiling;
    }

    /// @notice The announced ceiling, and when it may be applied; zeros when there is none.
    function scheduledCeiling() external view returns (uint24, uint48 applicableAt) {
        return (_scheduledCeiling.ceiling, _scheduledCeiling.applicableAt);
    }

    /// @notice Announces a new holder of a role; {grantRole} follows after the delay.
    function announceGrant(bytes32 role, address account) external onlyRole(DEFAULT_ADMIN_ROLE) {
        if (account == address(0)) revert AddressInvalid(account);
        uint48 applicableAt = uint48(block.timestamp) + RATES_DELAY;
        _announcedGrants[role][account] = applicableAt;
        emit GrantAnnounced(role, account, applicableAt);
    }

    /// @notice Drops an announced grant: the admin and the guardian may.
    function cancelGrant(bytes32 role, address account) external {
        _requireAdminOrGuardian();
        if (_announcedGrants[role][account] == 0) revert NoGrantAnnounced(role, account);
        delete _announcedGrants[role][account];
        emit GrantCanceled(role, account, msg.sender);
    }

    /// @notice Gives a role to whom {announceGrant} has announced. Revoking waits for nothing, the last
    /// guardian excepted ({announceLastRevocation}).
    function grantRole(bytes32 role, address account)
        public
        override
        onlyRole(DEFAULT_ADMIN_ROLE)
    {
        uint48 applicableAt = _announcedGrants[role][account];
        if (applicableAt == 0) revert NoGrantAnnounced(role, account);
        _requireApplicable(applicableAt);
        delete _announcedGrants[role][account];
        super.grantRole(role, account);
    }

    /// @notice When an announced grant can be made; zero when none is.
    function announcedGrant(bytes32 role, address account) external view returns (uint48) {
        return _announcedGrants[role][account];
    }

    /// @notice Announces that the last guardian will be revoked, or leave. While there is another one,
    /// neither needs an announcement. Nobody can drop this one: a stolen guardian's key could else
    /// keep its role and stop every grant.
    function announceLastRevocation() external onlyRole(DEFAULT_ADMIN_ROLE) {
        uint48 applicableAt = uint48(block.timestamp) + RATES_DELAY;
        _lastGuardianUntil = applicableAt;
        emit LastRevocationAnnounced(applicableAt);
    }

    /// @notice How many guardians there are, and from when on the last one may be revoked: zero while
    /// that is not announced.
    function guardians() external view returns (uint16 count, uint48 lastRevocableAt) {
        return (_guardians, _lastGuardianUntil);
    }

    /// @notice Drops announced rates: the admin and the guardian may.
    function cancelRates() external {
        _requireAdminOrGuardian();
        if (_scheduledRates.applicableAt == 0) revert NoRatesScheduled();
        delete _scheduledRates;
        emit RatesCanceled(msg.sender);
    }

    /// @notice Announces new rates. They replace any that were announced before and wait
    /// RATES_DELAY.
    function scheduleRates(Rates calldata rates_) external onlyRole(DEFAULT_ADMIN_ROLE) {
        _requireRatesAllowed(rates_);
        uint48 applicableAt = uint48(block.timestamp) + RATES_DELAY;
        _scheduledRates = ScheduledRates(rates_, applicableAt);
        emit RatesScheduled(rates_.acquirer, rates_.protocol, rates_.cashback, applicableAt);
    }

    /// @notice Puts announced rates into force. Anyone may, once the delay has passed.
    function applyRates() external nonReentrant {
        ScheduledRates memory scheduled = _scheduledRates;
        if (scheduled.applicableAt == 0) revert NoRatesScheduled();
        _requireApplicable(scheduled.applicableAt);
        delete _scheduledRates;
        _setRates(scheduled.rates);
    }

    /// @notice The announced rates, and when they may be applied; zero when there are none.
    function scheduledRates() external view returns (Rates memory, uint48 applicableAt) {
        return (_scheduledRates.rates, _scheduledRates.applicableAt);
    }

    /// @notice Pause, rates, ceiling, batches and fees in one word: {SettlementLens} reads it.
    function ledgerWord() external view returns (PackedLedger) {
        return _ledger;
    }

    /// @notice The pause of refunds and what operators have paid out in an hour, in one word.
    function packedOutflow() external view returns (PackedOutflow) {
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

    /// @dev Also where a guardian renounces its role: else a thief of both keys would be quicker.
    function _revokeRole(bytes32 role, address account)
        internal
        virtual
        override
        returns (bool revoked)
    {
        revoked = super._revokeRole(role, account);
        if (!revoked || role != GUARDIAN_ROLE || --_guardians > 0) return revoked;
        uint48 applicableAt = _lastGuardianUntil;
        if (applicableAt == 0) revert LastGuardianStays();
        _requireApplicable(applicableAt);
        delete _lastGuardianUntil;
    }

    function _grantFirst(bytes32 role, address account) private {
        if (account == address(0)) revert AddressInvalid(account);
        _grantRole(role, account);
    }

    function _approveCeiling(uint24 ceiling_) private {
        _approvedCeiling = ceiling_;
        _setCeiling(ceiling_);
    }

    function _setCeiling(uint24 ceiling_) private {
        _ledger = _ledger.withCeiling(ceiling_);
        _outflow = _outflow.withCeiling(ceiling_);
        emit CeilingChanged(ceiling_, msg.sender);
    }

    function _requireApplicable(uint48 applicableAt) internal view {
        if (block.timestamp < applicableAt) revert TooEarly(block.timestamp, applicableAt);
        uint256 until = uint256(applicableAt) + ANNOUNCEMENT_LIFE;
        if (block.timestamp > until) revert Lapsed(block.timestamp, until);
    }

    function _requireAdminOrGuardian() private view {
        if (!hasRole(GUARDIAN_ROLE, msg.sender)) _checkRole(DEFAULT_ADMIN_ROLE);
    }

    function _requireGuardianOrWatcher() private view {
        if (!hasRole(WATCH_ROLE, msg.sender)) _checkRole(GUARDIAN_ROLE);
    }

    function _setRates(Rates memory rates_) private {
        _ledger = _ledger.withRates(rates_.acquirer, rates_.protocol, rates_.cashback);
        emit RatesApplied(rates_.acquirer, rates_.protocol, rates_.cashback);
    }

    function _requireRatesAllowed(Rates memory rates_) private pure {
        uint256 feeRate = uint256(rates_.acquirer) + rates_.protocol;
        if (feeRate > MAX_FEE_RATE) revert FeeRateTooHigh(feeRate, MAX_FEE_RATE);
        if (rates_.cashback > rates_.protocol) {
            revert CashbackAboveProtocolRate(rates_.cashback, rates_.protocol);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {
    AccessControlDefaultAdminRules
} from "@openzeppelin/contracts/access/extensions/AccessControlDefaultAdminRules.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {PackedLedger} from "./PackedLedger.sol";

/// @notice Fee rates in basis points of the sale. The payer pays acquirer and protocol on top of
/// the sale and gets cashback out of the protocol fee.
struct Rates {
    uint16 acquirer;
    uint16 protocol;
    uint16 cashback;
}

/// @notice Who holds which role from the start, and the delays that bind the admin.
/// @param adminDelay Seconds between the two steps of an admin handover.
/// @param ratesDelay Seconds between scheduling and applying fee rates.
/// @param walletDelay Seconds between proposing and applying a merchant's new wallet.
struct Setup {
    address admin;
    address[] operators;
    address registrar;
    address guardian;
    address treasurer;
    uint48 adminDelay;
    uint48 ratesDelay;
    uint48 walletDelay;
    Rates rates;
}

/// @title Roles, pauses and fee rates.
/// @notice admin: roles, rates (capped, delayed), lifting a pause. operators: settle, refund, pay
/// withdrawals out. registrar: merchants. guardian: pausing, nothing else. treasurer: booked fees.
/// @dev Every function that writes what a batch keeps in memory shares the batch's lock.
abstract contract Governance is AccessControlDefaultAdminRules, ReentrancyGuardTransient {
    bytes32 public constant OPERATOR_ROLE = keccak256("OPERATOR_ROLE");
    bytes32 public constant REGISTRAR_ROLE = keccak256("REGISTRAR_ROLE");
    bytes32 public constant GUARDIAN_ROLE = keccak256("GUARDIAN_ROLE");
    bytes32 public constant TREASURER_ROLE = keccak256("TREASURER_ROLE");

    /// @notice The highest sum of acquirer and protocol rate, in basis points.
    uint256 public constant MAX_FEE_RATE = 300;

    /// @notice Seconds between {scheduleRates} and {applyRates}.
    uint48 public immutable RATES_DELAY;

    struct ScheduledRates {
        Rates rates;
        uint48 applicableAt;
    }

    PackedLedger internal _ledger;
    ScheduledRates private _scheduledRates;

    event SettlingPaused(address indexed by, bool paused);
    event RefundingPaused(address indexed by, bool paused);
    event RatesScheduled(uint16 acquirer, uint16 protocol, uint16 cashback, uint48 applicableAt);
    event RatesApplied(uint16 acquirer, uint16 protocol, uint16 cashback);
    event FeesCollected(address indexed to, uint64 acquirerFees, uint64 protocolFees);

    error SettlingIsPaused();
    error RefundingIsPaused();
    error FeeRateTooHigh(uint256 attempted, uint256 allowed);
    error CashbackAboveProtocolRate(uint256 attempted, uint256 allowed);
    error NoRatesScheduled();
    error TooEarly(uint256 attemptedAt, uint256 allowedFrom);
    error InsufficientFees(uint256 attempted, uint256 available);
    error AddressInvalid(address attempted);

    constructor(Setup memory setup) AccessControlDefaultAdminRules(setup.adminDelay, setup.admin) {
        RATES_DELAY = setup.ratesDelay;
        for (uint256 i = 0; i < setup.operators.length; ++i) {
            _grantRole(OPERATOR_ROLE, setup.operators[i]);
        }
        _grantRole(REGISTRAR_ROLE, setup.registrar);
        _grantRole(GUARDIAN_ROLE, setup.guardian);
        _grantRole(TREASURER_ROLE, setup.treasurer);
        _requireRatesAllowed(setup.rates);
        _setRates(setup.rates);
    }

    /// @notice Stops settling. The guardian can stop; only the admin can start again.
    function pauseSettling() external onlyRole(GUARDIAN_ROLE) nonReentrant {
        _ledger = _ledger.withPauses(true, _ledger.refundingPaused());
        emit SettlingPaused(msg.sender, true);
    }

    /// @notice Stops refunds. Withdrawals have no pause: merchants can always take their money.
    function pauseRefunding() external onlyRole(GUARDIAN_ROLE) nonReentrant {
        _ledger = _ledger.withPauses(_ledger.settlingPaused(), true);
        emit RefundingPaused(msg.sender, true);
    }

    function unpauseSettling() external onlyRole(DEFAULT_ADMIN_ROLE) nonReentrant {
        _ledger = _ledger.withPauses(false, _ledger.refundingPaused());
        emit SettlingPaused(msg.sender, false);
    }

    function unpauseRefunding() external onlyRole(DEFAULT_ADMIN_ROLE) nonReentrant {
        _ledger = _ledger.withPauses(_ledger.settlingPaused(), false);
        emit RefundingPaused(msg.sender, false);
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
        if (block.timestamp < scheduled.applicableAt) {
            revert TooEarly(block.timestamp, scheduled.applicableAt);
        }
        delete _scheduledRates;
        _setRates(scheduled.rates);
    }

    /// @notice The rates in force, in basis points.
    function rates() external view returns (Rates memory) {
        PackedLedger ledger = _ledger;
        return Rates(ledger.acquirerRate(), ledger.protocolRate(), ledger.cashbackRate());
    }

    /// @notice The announced rates, and when they may be applied; zero when there are none.
    function scheduledRates() external view returns (Rates memory, uint48 applicableAt) {
        return (_scheduledRates.rates, _scheduledRates.applicableAt);
    }

    /// @notice Fees booked and not yet collected, in atoms.
    function bookedFees() external view returns (uint64 acquirerFees, uint64 protocolFees) {
        return (_ledger.acquirerFees(), _ledger.protocolFees());
    }

    function settlingPaused() external view returns (bool) {
        return _ledger.settlingPaused();
    }

    function refundingPaused() external view returns (bool) {
        return _ledger.refundingPaused();
    }

    /// @notice How many batches have settled; also the number of the newest one.
    function batchCount() external view returns (uint48) {
        return _ledger.batches();
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

// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {BASIS_POINTS, MAX_AMOUNT, Reason} from "../PaymentTypes.sol";
import {ISettlement} from "../artifacts/ISettlement.sol";
import {TestBase} from "./TestBase.sol";

/// @title A plain model of Settlement's rules: one variable per fact, nothing packed.
abstract contract BooksModel is TestBase {
    struct PayerModel {
        uint256 key;
        address account;
        uint256 balance;
        uint256 allowance;
        bool blocked;
        bool enrolled;
        bool revoked;
        ISettlement.Policy policy;
        uint256 spent;
        uint256 period;
    }

    struct PaymentModel {
        bool settled;
        uint256 batch;
        uint256 position;
        uint256 payer;
        uint32 merchant;
        uint40 amount;
        uint64 refunded;
    }

    struct Item {
        uint64 number;
        uint256 payer;
        uint32 merchant;
        uint40 amount;
        bytes8 orderId;
    }

    struct Fees {
        uint256 acquirer;
        uint256 protocol;
        uint256 cashback;
    }

    /// @dev A wallet that was proposed, until it is applied, canceled or dropped.
    struct ChangeModel {
        bool open;
        uint256 key;
        uint256 proposedAt;
        address proposer;
    }

    uint256 internal constant PAYERS = 6;
    uint32 public constant MERCHANTS = 2;

    PayerModel[PAYERS] internal payers;
    mapping(uint64 number => PaymentModel) internal payments;
    mapping(uint256 batch => bytes32[]) internal leavesOf;
    uint64[] internal settledNumbers;

    mapping(uint32 merchant => uint256) public merchantBalance;
    mapping(uint32 merchant => uint256 key) internal walletKeyOf;
    mapping(uint32 merchant => uint256) internal heldUntil;
    mapping(uint32 merchant => ChangeModel) internal changes;
    uint256 public acquirerFees;
    uint256 public protocolFees;
    uint256 public batches;
    Fees internal rates;
    uint256 internal ceiling;
    mapping(uint256 hour => uint256 atoms) internal settledIn;
    /// @dev Paid by refunds.
    mapping(uint256 hour => uint256 atoms) public paidIn;
    uint256 internal approvedCeiling;

    function payerModel(uint256 index) external view returns (address account, uint256 balance) {
        return (payers[index].account, payers[index].balance);
    }

    function walletModel(uint32 merchant) external view returns (address wallet, uint256 held) {
        return (vm.addr(walletKeyOf[merchant]), heldUntil[merchant]);
    }

    function payerCount() external pure returns (uint256) {
        return PAYERS;
    }

    function _outflowAllows(uint256 amount) internal view returns (bool) {
        return paidIn[block.timestamp / 1 hours] + amount <= ceiling * 1e6;
    }

    /// @dev Returns the reason expected from the contract, whether a policy or an authorization
    /// consents.
    function _commonRefusal(Item memory item) internal view returns (uint8) {
        if (item.amount == 0 || item.amount > MAX_AMOUNT) return Reason.AMOUNT_INVALID;
        if (item.orderId == 0) return Reason.ORDER_ID_INVALID;
        if (payments[item.number].settled) return Reason.ALREADY_SETTLED;
        if (item.merchant == 0 || item.merchant > MERCHANTS) return Reason.MERCHANT_UNKNOWN;
        if (settledIn[block.timestamp / 1 hours] + item.amount > ceiling * 1e6) {
            return Reason.CEILING_REACHED;
        }
        return Reason.NONE;
    }

    /// @dev Returns the reason expected from a batch for this payment.
    function _policyRefusal(Item memory item) internal view returns (uint8) {
        PayerModel storage payer = payers[item.payer];
        if (payer.revoked) return Reason.POLICY_REVOKED;
        if (!payer.enrolled) return Reason.POLICY_MISSING;
        if (block.timestamp >= payer.policy.expiresAt) return Reason.POLICY_EXPIRED;
        if (rates.acquirer + rates.protocol > payer.policy.maxFeeRate) {
            return Reason.FEES_ABOVE_POLICY;
        }
        if (item.amount > payer.policy.perPayment) return Reason.PAYMENT_CAP_EXCEEDED;
        if (_spentNow(payer) + item.amount > payer.policy.perPeriod) {
            return Reason.PERIOD_CAP_EXCEEDED;
        }
        uint256 value = _value(item.amount);
        if (payer.balance < value) return Reason.INSUFFICIENT_FUNDS;
        if (payer.allowance < value) return Reason.INSUFFICIENT_ALLOWANCE;
        return payer.blocked ? Reason.TRANSFER_REFUSED : Reason.NONE;
    }

    function _spentNow(PayerModel storage payer) internal view returns (uint256) {
        return block.timestamp / payer.policy.periodSeconds == payer.period ? payer.spent : 0;
    }

    /// @dev Records the expected effects of the payment's settlement.
    function _recordSettled(Item memory item, uint256 batch) internal {
        PayerModel storage payer = payers[item.payer];
        PaymentModel storage payment = payments[item.number];
        payment.settled = true;
        payment.batch = batch;
        payment.position = leavesOf[batch].length;
        payment.payer = item.payer;
        payment.merchant = item.merchant;
        payment.amount = item.amount;
        leavesOf[batch].push(keccak256(_pack(item)));
        settledNumbers.push(item.number);
        settledIn[block.timestamp / 1 hours] += item.amount;
        Fees memory fees = _fees(item.amount);
        payer.balance -= _value(item.amount);
        merchantBalance[item.merchant] += item.amount;
        acquirerFees += fees.acquirer;
        protocolFees += fees.protocol - fees.cashback;
    }

    function _recordSpent(Item memory item) internal {
        PayerModel storage payer = payers[item.payer];
        payer.spent = _spentNow(payer) + item.amount;
        payer.period = block.timestamp / payer.policy.periodSeconds;
        payer.allowance -= _value(item.amount);
    }

    function _fees(uint256 amount) internal view returns (Fees memory) {
        return Fees({
            acquirer: amount * rates.acquirer / BASIS_POINTS,
            protocol: amount * rates.protocol / BASIS_POINTS,
            cashback: amount * rates.cashback / BASIS_POINTS
        });
    }

    /// @dev Returns the atoms that leave the payer's wallet.
    function _value(uint256 amount) internal view returns (uint256) {
        Fees memory fees = _fees(amount);
        return amount + fees.acquirer + fees.protocol - fees.cashback;
    }

    function _pack(Item memory item) internal view returns (bytes memory) {
        return abi.encodePacked(
            item.number, payers[item.payer].account, item.merchant, item.amount, item.orderId
        );
    }
}

// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {PackedCharges, PackedChargesFields} from "../PackedCharges.sol";
import {PackedLedger} from "../PackedLedger.sol";
import {PackedOutflow} from "../PackedOutflow.sol";
import {PackedPolicy, PackedPolicyFields} from "../PackedPolicy.sol";
import {PaymentRules} from "../PaymentRules.sol";
import {Reason} from "../PaymentTypes.sol";
import {SettledWord} from "../SettledWord.sol";

/// @title Properties of the pure functions, proved for every input.
/// @dev Each function returns true if its property holds for its arguments; a revert states
/// nothing. `prove.ts` proves that none ever returns false, for all words and all arguments that
/// satisfy its requirements.
contract Claims {
    uint256 private constant UNIT = 1e6;
    uint256 private constant HIGHEST_FEES = 2 ** 52 - 1;

    function outflowNeverPassesItsCeiling(uint256 word, uint64 amount, uint40 time)
        external
        pure
        returns (bool)
    {
        PackedOutflow before = PackedOutflow.wrap(word);
        // The sum refunded in an hour is never above the highest ceiling.
        require(before.paidAt(time) <= uint256(type(uint24).max) * UNIT);
        PackedOutflow later = before.pay(amount, time);
        return later.paidAt(time) == before.paidAt(time) + amount
            && later.paidAt(time) <= uint256(before.hourlyCeiling()) * UNIT
            && later.hourlyCeiling() == before.hourlyCeiling()
            && later.refundingPaused() == before.refundingPaused();
    }

    function outflowForgetsOtherHours(uint256 word, uint64 amount, uint40 time, uint40 other)
        external
        pure
        returns (bool)
    {
        require(time / 1 hours != other / 1 hours);
        return PackedOutflow.wrap(word).pay(amount, time).paidAt(other) == 0;
    }

    function outflowKeepsItsFieldsApart(uint256 word, uint24 ceiling, bool paused, uint40 time)
        external
        pure
        returns (bool)
    {
        PackedOutflow before = PackedOutflow.wrap(word);
        PackedOutflow later = before.withCeiling(ceiling).withRefundingPaused(paused);
        return later.hourlyCeiling() == ceiling && later.refundingPaused() == paused
            && later.paidAt(time) == before.paidAt(time);
    }

    function ledgerKeepsWhatSettled(uint256 word, uint64 settled, uint40 time)
        external
        pure
        returns (bool)
    {
        require(settled < 2 ** 44);
        PackedLedger before = PackedLedger.wrap(word);
        PackedLedger later = before.withSettled(settled, time);
        return later.settledAt(time) == settled && later.hourlyCeiling() == before.hourlyCeiling()
            && _sameRates(before, later) && _sameFees(before, later)
            && later.batches() == before.batches()
            && later.settlingPaused() == before.settlingPaused();
    }

    function ledgerHasRoomUpToItsCeiling(uint256 word, uint40 time) external pure returns (bool) {
        PackedLedger ledger = PackedLedger.wrap(word);
        uint256 ceiling = uint256(ledger.hourlyCeiling()) * UNIT;
        uint256 settled = ledger.settledAt(time);
        uint256 room = ledger.roomAt(time);
        return settled < ceiling ? settled + room == ceiling : room == 0;
    }

    function ledgerCountsABatch(uint256 word, uint64 acquirer, uint64 protocol, uint64 cashback)
        external
        pure
        returns (bool)
    {
        require(cashback <= protocol);
        PackedLedger before = PackedLedger.wrap(word);
        // 36 bits of batches never overflow.
        require(before.batches() < 2 ** 36 - 1);
        PackedLedger later = before.withBatch(PackedChargesFields.pack(acquirer, protocol, cashback));
        return uint256(later.acquirerFees()) == uint256(before.acquirerFees()) + acquirer
            && uint256(later.protocolFees()) == uint256(before.protocolFees()) + protocol - cashback
            && later.acquirerFees() <= HIGHEST_FEES && later.batches() == before.batches() + 1
            && later.hourlyCeiling() == before.hourlyCeiling() && _sameRates(before, later)
            && later.settlingPaused() == before.settlingPaused();
    }

    function ledgerKeepsItsRates(uint256 word, uint16 acquirer, uint16 protocol, uint16 cashback)
        external
        pure
        returns (bool)
    {
        require(acquirer < 1024 && protocol < 1024 && cashback < 1024);
        PackedLedger before = PackedLedger.wrap(word);
        PackedLedger later = before.withRates(acquirer, protocol, cashback);
        return later.acquirerRate() == acquirer && later.protocolRate() == protocol
            && later.cashbackRate() == cashback && _sameFees(before, later)
            && later.batches() == before.batches()
            && later.hourlyCeiling() == before.hourlyCeiling()
            && later.settlingPaused() == before.settlingPaused();
    }

    function ledgerKeepsItsFieldsApart(
        uint256 word,
        uint24 ceiling,
        bool paused,
        uint64 acquirer,
        uint64 protocol,
        uint40 time
    ) external pure returns (bool) {
        require(acquirer <= HIGHEST_FEES && protocol <= HIGHEST_FEES);
        PackedLedger before = PackedLedger.wrap(word);
        PackedLedger later = before.withCeiling(ceiling).withSettlingPaused(paused);
        later = later.withFees(acquirer, protocol);
        return later.hourlyCeiling() == ceiling && later.settlingPaused() == paused
            && later.acquirerFees() == acquirer && later.protocolFees() == protocol
            && _sameRates(before, later) && later.batches() == before.batches()
            && later.settledAt(time) == before.settledAt(time);
    }

    function policyReadsAsItWasPacked(
        uint16 maxFeeRate,
        uint40 expiresAt,
        uint24 periodSeconds,
        uint48 perPayment,
        uint48 perPeriod,
        uint40 time
    ) external pure returns (bool) {
        PackedPolicy policy =
            PackedPolicyFields.pack(maxFeeRate, expiresAt, periodSeconds, perPayment, perPeriod);
        return policy.maxFeeRate() == maxFeeRate && policy.expiresAt() == expiresAt
            && policy.periodSeconds() == periodSeconds && policy.perPayment() == perPayment
            && policy.perPeriod() == perPeriod && policy.spentAt(time) == 0;
    }

    function policyIsNeverOverspent(uint256 word, uint40 amount, uint16 feeRate, uint40 time)
        external
        pure
        returns (bool)
    {
        PackedPolicy before = PackedPolicy.wrap(word);
        // No policy has a period of zero.
        require(before.periodSeconds() > 0);
        (uint256 reason, PackedPolicy later) = before.spend(amount, feeRate, time);
        if (reason != Reason.NONE) {
            return PackedPolicy.unwrap(later) == word;
        }
        return later.spentAt(time) == before.spentAt(time) + amount
            && later.spentAt(time) <= before.perPeriod() && amount <= before.perPayment()
            && feeRate <= before.maxFeeRate() && time < before.expiresAt()
            && later.hasTermsOf(before) && later.perPeriod() == before.perPeriod();
    }

    function revokedPolicySpendsNothing(uint40 amount, uint16 feeRate, uint40 time)
        external
        pure
        returns (bool)
    {
        (uint256 reason,) = PackedPolicyFields.revoked().spend(amount, feeRate, time);
        return reason == Reason.POLICY_REVOKED || time < PackedPolicyFields.REVOKED;
    }

    function chargesAddFieldByField(uint256 a, uint256 b) external pure returns (bool) {
        // Far above the highest charges of a batch: see PackedCharges.sol.
        uint256 free = 0xffff << 48;
        require(((a | b) & (free | (free << 64) | (free << 128))) == 0);
        PackedCharges x = PackedCharges.wrap(a);
        PackedCharges y = PackedCharges.wrap(b);
        PackedCharges sum = x + y;
        return sum.acquirerFee() == x.acquirerFee() + y.acquirerFee()
            && sum.protocolFee() == x.protocolFee() + y.protocolFee()
            && sum.cashback() == x.cashback() + y.cashback();
    }

    function chargesReadAsTheyWerePacked(uint64 acquirer, uint64 protocol, uint64 cashback)
        external
        pure
        returns (bool)
    {
        PackedCharges charges = PackedChargesFields.pack(acquirer, protocol, cashback);
        return charges.acquirerFee() == acquirer && charges.protocolFee() == protocol
            && charges.cashback() == cashback
            && charges.withBatch(7) == (uint256(7) << 192) | PackedCharges.unwrap(charges);
    }

    function payerPaysTheSaleAndItsCharges(uint256 word, uint40 amount)
        external
        pure
        returns (bool)
    {
        PackedLedger ledger = PackedLedger.wrap(word);
        // Governance keeps the rates below this.
        require(ledger.cashbackRate() <= ledger.protocolRate());
        (PackedCharges charges, uint256 pulled) = PaymentRules.charge(ledger, amount);
        return pulled + charges.cashback()
            == uint256(amount) + charges.acquirerFee() + charges.protocolFee();
    }

    function settledNumberIsSettledForEver(uint256 word, uint64 number, uint64 later)
        external
        pure
        returns (bool)
    {
        uint256 settled = SettledWord.with(SettledWord.with(word, number), later);
        return SettledWord.has(settled, number) && SettledWord.has(settled, later);
    }

    function otherNumbersAreLeftAlone(uint256 word, uint64 number, uint64 other)
        external
        pure
        returns (bool)
    {
        require(number != other && SettledWord.indexOf(number) == SettledWord.indexOf(other));
        return SettledWord.has(SettledWord.with(word, number), other)
            == SettledWord.has(word, other);
    }

    function _sameRates(PackedLedger a, PackedLedger b) private pure returns (bool) {
        return a.acquirerRate() == b.acquirerRate() && a.protocolRate() == b.protocolRate()
            && a.cashbackRate() == b.cashbackRate();
    }

    function _sameFees(PackedLedger a, PackedLedger b) private pure returns (bool) {
        return a.acquirerFees() == b.acquirerFees() && a.protocolFees() == b.protocolFees();
    }
}

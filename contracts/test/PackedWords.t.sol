// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";
import {PackedCharges, PackedChargesFields} from "../PackedCharges.sol";
import {PackedLedger} from "../PackedLedger.sol";
import {PackedOutflow} from "../PackedOutflow.sol";
import {PackedPolicy, PackedPolicyFields} from "../PackedPolicy.sol";
import {PaymentCodec, PaymentHead, PaymentTail} from "../PaymentCodec.sol";
import {PaymentTree} from "../PaymentTree.sol";
import {Reason} from "../PaymentTypes.sol";
import {TestBase} from "./TestBase.sol";
import {TreeModel} from "./TreeModel.sol";

/// @title Compares the packed words and the tree with plain models of them.
contract PackedWordsTest is TestBase {
    function testFuzz_packedPaymentsDecodeToTheSameValues(
        uint64 number,
        address payer,
        uint32 merchant,
        uint40 amount,
        bytes8 orderId
    ) public view {
        bytes memory packed = abi.encodePacked(number, payer, merchant, amount, orderId);
        this.checkPayment(bytes.concat(new bytes(45), packed, new bytes(45)), packed);
    }

    /// @dev External, because the codec reads calldata.
    function checkPayment(bytes calldata three, bytes calldata packed) external pure {
        (PaymentHead head, PaymentTail tail) = PaymentCodec.read(three, 1);
        bytes memory again = abi.encodePacked(
            head.number(), head.payer(), tail.merchant(), tail.amount(), tail.orderId()
        );
        assertEq(keccak256(again), keccak256(packed), "fields");
        bytes memory asInTheEvent = abi.encodePacked(head.number(), head.payer(), tail.terms());
        assertEq(keccak256(asInTheEvent), keccak256(packed), "terms");
        assertEq(PaymentCodec.leaf(three, 1), keccak256(packed), "leaf");
        assertEq(PaymentCodec.count(three), 3, "count");
    }

    struct LedgerModel {
        bool settlingPaused;
        uint16 acquirerRate;
        uint16 protocolRate;
        uint16 cashbackRate;
        uint64 acquirerFees;
        uint64 protocolFees;
        uint24 ceiling;
        uint64 settled;
        uint40 time;
    }

    uint64 private constant HIGHEST_FEES = 2 ** 52 - 1;

    function testFuzz_ledgerFieldsDoNotOverlap(LedgerModel memory a, LedgerModel memory b)
        public
        pure
    {
        _bind(a);
        _bind(b);
        PackedLedger ledger =
            PackedLedger.wrap(0).withBatch(_charges(a.acquirerFees, a.protocolFees));
        ledger = _write(ledger, a);
        _check(ledger, a);
        ledger = _write(ledger, b).withFees(b.acquirerFees, b.protocolFees);
        _check(ledger, b);
        assertEq(ledger.batches(), 1, "batches");
    }

    function test_aBatchAddsItsFeesLessCashbackAndCountsItself() public pure {
        PackedLedger ledger = PackedLedger.wrap(0).withBatch(PackedChargesFields.pack(3, 4, 1))
            .withBatch(PackedChargesFields.pack(10, 20, 20));
        assertEq(ledger.acquirerFees(), 13, "acquirer fees");
        assertEq(ledger.protocolFees(), 3, "protocol fees");
        assertEq(ledger.batches(), 2, "batches");
    }

    function testFuzz_aBatchKeepsTheOtherFieldsOfTheLedger(LedgerModel memory model) public pure {
        _bind(model);
        model.acquirerFees = uint64(bound(model.acquirerFees, 0, HIGHEST_FEES - 1));
        model.protocolFees = uint64(bound(model.protocolFees, 0, HIGHEST_FEES - 2));
        PackedLedger ledger =
            _write(PackedLedger.wrap(0), model).withFees(model.acquirerFees, model.protocolFees);
        ledger = ledger.withBatch(_charges(1, 2));
        (model.acquirerFees, model.protocolFees) = (model.acquirerFees + 1, model.protocolFees + 2);
        _check(ledger, model);
        assertEq(ledger.batches(), 1, "batches");
    }

    /// @dev The highest charges of a full batch fit, field by field.
    function testFuzz_chargesAddUpFieldByField(uint48[3] memory a, uint48[3] memory b) public pure {
        PackedCharges sum =
            PackedChargesFields.pack(a[0], a[1], a[2]) + PackedChargesFields.pack(b[0], b[1], b[2]);
        assertEq(sum.acquirerFee(), uint256(a[0]) + b[0], "acquirer fee");
        assertEq(sum.protocolFee(), uint256(a[1]) + b[1], "protocol fee");
        assertEq(sum.cashback(), uint256(a[2]) + b[2], "cashback");
        assertEq(
            sum.withBatch(7),
            (uint256(7) << 192) | (uint256(sum.acquirerFee()) << 128)
                | (uint256(sum.protocolFee()) << 64) | sum.cashback(),
            "event"
        );
    }

    /// @dev Four payments at rising times, each compared with what a plain sum allows.
    function testFuzz_theOutflowAllowsTheSameAsItsModel(
        uint24 ceiling,
        bool paused,
        uint24[4] memory waits,
        uint48[4] memory amounts
    ) public {
        PackedOutflow outflow =
            PackedOutflow.wrap(0).withCeiling(ceiling).withRefundingPaused(paused);
        uint256 time = 1_700_000_000;
        uint256 paid;
        for (uint256 i = 0; i < 4; ++i) {
            uint256 next = time + waits[i] % 2 hours;
            if (next / 1 hours != time / 1 hours) paid = 0;
            time = next;
            assertEq(outflow.paidAt(time), paid, "paid");
            uint256 room = uint256(ceiling) * 1e6 - paid;
            // Near the remaining amount, so that both sides of the ceiling are tested.
            uint256 amount = i % 2 == 0 ? amounts[i] : bound(amounts[i], 0, room + 1);
            if (amount > room) {
                vm.expectRevert(
                    abi.encodeWithSignature("OutflowCeilingReached(uint256,uint256)", amount, room)
                );
                this.pay(outflow, amount, time);
                continue;
            }
            outflow = this.pay(outflow, amount, time);
            paid += amount;
        }
        assertEq(outflow.paidAt(time), paid, "paid in the end");
        assertEq(outflow.hourlyCeiling(), ceiling, "ceiling");
        assertTrue(outflow.refundingPaused() == paused, "paused");
        assertEq(outflow.withCeiling(0).withRefundingPaused(!paused).paidAt(time), paid, "kept");
    }

    function test_anOldHourNeverCountsAgain() public view {
        PackedOutflow outflow = this.pay(PackedOutflow.wrap(0).withCeiling(1), 1e6, 1_700_000_000);
        assertEq(outflow.paidAt(1_700_000_000 + uint256(65_536) * 1 hours), 0, "65,536 hours later");
    }

    function pay(PackedOutflow outflow, uint256 amount, uint256 time)
        external
        pure
        returns (PackedOutflow)
    {
        return outflow.pay(amount, time);
    }

    function _charges(uint64 acquirerFee, uint64 protocolFee) private pure returns (PackedCharges) {
        return PackedChargesFields.pack(acquirerFee, protocolFee, 0);
    }

    function _write(PackedLedger ledger, LedgerModel memory model)
        private
        pure
        returns (PackedLedger)
    {
        return ledger.withSettlingPaused(model.settlingPaused)
            .withRates(model.acquirerRate, model.protocolRate, model.cashbackRate)
            .withCeiling(model.ceiling).withSettled(model.settled, model.time);
    }

    /// @dev Bounds the model to values that fit the fields and that the contract accepts.
    function _bind(LedgerModel memory model) private pure {
        model.acquirerRate = uint16(bound(model.acquirerRate, 0, 1_023));
        model.protocolRate = uint16(bound(model.protocolRate, 0, 1_023));
        model.cashbackRate = uint16(bound(model.cashbackRate, 0, 1_023));
        model.acquirerFees = uint64(bound(model.acquirerFees, 0, HIGHEST_FEES));
        model.protocolFees = uint64(bound(model.protocolFees, 0, HIGHEST_FEES));
        model.settled = uint64(bound(model.settled, 0, uint256(type(uint24).max) * 1e6));
    }

    function _check(PackedLedger ledger, LedgerModel memory model) private pure {
        assertTrue(ledger.settlingPaused() == model.settlingPaused, "settling paused");
        assertEq(ledger.acquirerRate(), model.acquirerRate, "acquirer rate");
        assertEq(ledger.protocolRate(), model.protocolRate, "protocol rate");
        assertEq(ledger.cashbackRate(), model.cashbackRate, "cashback rate");
        assertEq(ledger.acquirerFees(), model.acquirerFees, "acquirer fees");
        assertEq(ledger.protocolFees(), model.protocolFees, "protocol fees");
        assertEq(ledger.hourlyCeiling(), model.ceiling, "ceiling");
        assertEq(ledger.settledAt(model.time), model.settled, "settled in the hour");
        assertEq(ledger.settledAt(uint256(model.time) + 1 hours), 0, "settled in the next hour");
        uint256 ceiling = uint256(model.ceiling) * 1e6;
        uint256 room = model.settled < ceiling ? ceiling - model.settled : 0;
        assertEq(ledger.roomAt(model.time), room, "room");
    }

    function test_feesThatOverflowTheirFieldAreRefused() public {
        uint64 highest = HIGHEST_FEES;
        uint256 above = uint256(highest) + 1;
        this.earn(highest, highest, 0, 0);
        vm.expectRevert(abi.encodeWithSignature("FeesTooHigh(uint256,uint256)", above, highest));
        this.earn(highest, highest, 1, 0);
        vm.expectRevert(abi.encodeWithSignature("FeesTooHigh(uint256,uint256)", highest, above));
        this.earn(highest, highest, 0, 1);
    }

    function earn(uint64 acquirerFees, uint64 protocolFees, uint64 acquirer, uint64 protocol)
        external
        pure
    {
        PackedLedger.wrap(0).withFees(acquirerFees, protocolFees)
            .withBatch(_charges(acquirer, protocol));
    }

    struct PolicyModel {
        uint48 perPayment;
        uint48 perPeriod;
        uint24 periodSeconds;
        uint40 expiresAt;
        uint16 maxFeeRate;
    }

    /// @dev Four sales at rising times, each compared with what a plain model allows.
    function testFuzz_aPolicyAllowsTheSameAsItsModel(
        PolicyModel memory model,
        uint32[4] memory waits,
        uint40[4] memory amounts,
        uint16 feeRate
    ) public pure {
        model.periodSeconds = uint24(bound(model.periodSeconds, 60, type(uint24).max));
        model.expiresAt = uint40(bound(model.expiresAt, 2, type(uint32).max));
        model.perPeriod = uint48(bound(model.perPeriod, 1, 3 * uint256(type(uint40).max)));
        PackedPolicy policy = PackedPolicyFields.pack(
            model.maxFeeRate,
            model.expiresAt,
            model.periodSeconds,
            model.perPayment,
            model.perPeriod
        );
        uint256 time = 1_700_000_000;
        uint256 spent;
        for (uint256 i = 0; i < 4; ++i) {
            uint256 next = time + waits[i] % 1_000_000;
            if (next / model.periodSeconds != time / model.periodSeconds) spent = 0;
            time = next;
            assertEq(policy.spentAt(time), spent, "spent");
            uint256 expected = _expected(model, spent, amounts[i], feeRate, time);
            uint256 reason;
            (reason, policy) = policy.spend(amounts[i], feeRate, time);
            assertEq(reason, expected, "reason");
            if (reason == Reason.NONE) spent += amounts[i];
        }
        assertEq(policy.perPayment(), model.perPayment, "perPayment");
        assertEq(policy.perPeriod(), model.perPeriod, "perPeriod");
        assertEq(policy.periodSeconds(), model.periodSeconds, "periodSeconds");
        assertEq(policy.expiresAt(), model.expiresAt, "expiresAt");
        assertEq(policy.maxFeeRate(), model.maxFeeRate, "maxFeeRate");
    }

    function _expected(
        PolicyModel memory model,
        uint256 spent,
        uint256 amount,
        uint256 feeRate,
        uint256 time
    ) private pure returns (uint256) {
        if (time >= model.expiresAt) return Reason.POLICY_EXPIRED;
        if (feeRate > model.maxFeeRate) return Reason.FEES_ABOVE_POLICY;
        if (amount > model.perPayment) return Reason.PAYMENT_CAP_EXCEEDED;
        if (spent + amount > model.perPeriod) return Reason.PERIOD_CAP_EXCEEDED;
        return Reason.NONE;
    }

    function testFuzz_theTreeEqualsTheModelAndOpenZeppelinVerifiesItsProofs(
        bytes32[] memory leaves,
        uint256 index
    ) public view {
        if (leaves.length == 0) return;
        index = bound(index, 0, leaves.length - 1);
        uint256 nodes = PaymentTree.allocate(leaves.length);
        for (uint256 i = 0; i < leaves.length; ++i) {
            PaymentTree.set(nodes, i, leaves[i]);
        }
        bytes32 root = PaymentTree.root(nodes, leaves.length);
        bytes32 leaf = leaves[index];
        bytes32[] memory proof = TreeModel.proof(leaves, index);
        assertEq(root, TreeModel.root(leaves), "root");
        assertTrue(MerkleProof.verify(proof, root, leaf), "OpenZeppelin's verifier");
        assertEq(this.rootOf(proof, leaf), root, "ours");
    }

    function testFuzz_everyProofGivesTheRootThatOpenZeppelinGives(bytes32[] memory proof, bytes32 leaf)
        public
        view
    {
        assertEq(this.rootOf(proof, leaf), MerkleProof.processProof(proof, leaf), "root");
    }

    function rootOf(bytes32[] calldata proof, bytes32 leaf) external pure returns (bytes32) {
        return PaymentTree.rootOf(proof, leaf);
    }
}

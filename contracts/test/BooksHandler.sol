// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Reason} from "../PaymentTypes.sol";
import {ISettlement} from "../artifacts/ISettlement.sol";
import {ITestUSDC} from "../artifacts/ITestUSDC.sol";
import {BooksModel} from "./BooksModel.sol";
import {RangeModel} from "./RangeModel.sol";
import {SettlementFixture} from "./SettlementFixture.sol";
import {TreeModel} from "./TreeModel.sol";

/// @title Random actions by all roles, each compared with the model.
contract BooksHandler is BooksModel, SettlementFixture {
    using RangeModel for RangeModel.Range;

    /// @dev How many payment numbers there are. Few, so that payments are often sent again; they
    /// lie at both ends of the type's range and around the powers of two in between.
    uint256 private constant NUMBERS = 640;
    uint256 private constant MAX_BATCH = 5;
    uint48 private constant HOLD = 2 days;
    /// @dev The number of batches before the campaign, chosen so that all peaks soon merge into
    /// one.
    uint256 private constant EARLIER = 2 ** 20 - 40;
    /// @dev The first key of the proposed wallets. Few wallets, so that two merchants sometimes
    /// share one.
    uint256 private constant FIRST_WALLET_KEY = 0x3a11e7;
    uint256 private constant WALLETS = 4;
    address private constant SPARE_OPERATOR = address(0x0a);

    RangeModel.Range private range;
    bool private settlingPaused;
    bool private refundingPaused;
    uint64[] private withdrawalNumbers;
    mapping(uint64 number => bool) private withdrawalPaid;

    /// @notice How often each result occurred. If one never occurs, the campaign proves little.
    mapping(uint8 reason => uint256) public reasonSeen;
    uint256 public refundsPaid;
    uint256 public refundsRefused;
    uint256 public proofsRefused;
    uint256 public withdrawalsPaid;
    uint256 public outflowsRefused;
    uint256 public withdrawalsHeldBack;
    uint256 public walletsApplied;
    uint256 public walletsCanceled;
    uint256 public walletsDropped;
    uint256 public holdsExtended;
    uint256 public enrolments;
    uint256 public enrolmentsRefused;
    uint256 public lapses;
    bool private spareOperates;
    bool private otherGuards = true;
    uint256 public operationsCanceled;
    uint256 public raisesHeldBack;
    uint256 public actions;

    constructor() {
        SettlementFixture.setUp();
        _beginAt(settlement, range, EARLIER);
        batches = EARLIER;
        rates = Fees(30, 20, 5);
        ceiling = approvedCeiling = CEILING - 10_000;
        (walletKeyOf[merchant], walletKeyOf[otherMerchant]) = (WALLET_KEY, OTHER_WALLET_KEY);
        heldUntil[merchant] = heldUntil[otherMerchant] = block.timestamp + HOLD;
        for (uint256 i = 0; i < PAYERS; ++i) {
            payers[i].key = 1_000 + i;
            payers[i].account = vm.addr(1_000 + i);
            _fund(i, 1e13);
            _approve(i, type(uint256).max);
            // The last payer never has a policy.
            if (i + 1 < PAYERS) _setPolicy(i, _widePolicy());
        }
    }

    function setUp() public pure override {}

    function _setup() internal view override returns (ISettlement.Setup memory setup) {
        setup = super._setup();
        setup.payoutHold = HOLD;
        setup.hourlyCeiling = CEILING - 10_000;
    }

    /// @notice Settles a batch of random payments (a single payment separately), and expects the
    /// model's reasons.
    function settle(uint256 drawn) external {
        uint256 seed = _count(drawn);
        uint256 count = 1 + seed % MAX_BATCH;
        bytes memory packed;
        Item[] memory items = new Item[](count);
        for (uint256 i = 0; i < count; ++i) {
            items[i] = _randomItem(uint256(keccak256(abi.encode(seed, i))));
            packed = bytes.concat(packed, _pack(items[i]));
        }
        if (settlingPaused) vm.expectRevert(ISettlement.SettlingIsPaused.selector);
        vm.prank(seed & 1 == 0 ? OPERATOR : OTHER_OPERATOR);
        bytes memory reasons = count == 1
            ? abi.encodePacked(settlement.settlePaymentSeparately(packed, _now()))
            : settlement.settleBatch(packed, _now());
        if (settlingPaused) return;
        bool anySettled;
        for (uint256 i = 0; i < count; ++i) {
            uint8 expected = _commonRefusal(items[i]);
            if (expected == Reason.NONE) expected = _policyRefusal(items[i]);
            uint8 actual = reasons.length == 0 ? 0 : uint8(reasons[i]);
            assertEq(actual, expected, "reason in a batch");
            ++reasonSeen[actual];
            if (actual != Reason.NONE) continue;
            anySettled = true;
            _recordSettled(items[i], batches + 1);
            _recordSpent(items[i]);
        }
        if (anySettled) _closeBatch();
    }

    /// @notice Settles one payment with an authorization that is sometimes for a different amount.
    function settleAuthorized(uint256 drawn) external {
        uint256 seed = _count(drawn);
        Item memory item = _randomItem(seed);
        bool forged = seed % 5 == 0;
        bytes32 nonce = settlement.authorizationNonce(
            item.merchant, forged ? item.amount ^ 1 : item.amount, item.number, item.orderId, ""
        );
        uint256 key = payers[item.payer].key;
        ISettlement.Authorization memory authorization =
            _authorization(key, _value(item.amount), nonce, true, "");
        bytes memory packed = _pack(item);
        if (settlingPaused) vm.expectRevert(ISettlement.SettlingIsPaused.selector);
        vm.prank(OPERATOR);
        uint8 actual = settlement.settleWithAuthorization(packed, authorization, _now());
        if (settlingPaused) return;
        uint8 expected = _commonRefusal(item);
        if (expected == Reason.NONE) {
            if (payers[item.payer].balance < _value(item.amount)) {
                expected = Reason.INSUFFICIENT_FUNDS;
            } else if (forged || payers[item.payer].blocked) {
                expected = Reason.AUTHORIZATION_REFUSED;
            }
        }
        assertEq(actual, expected, "reason of an authorized payment");
        ++reasonSeen[actual];
        if (actual != Reason.NONE) return;
        _recordSettled(item, batches + 1);
        _closeBatch();
    }

    /// @notice Refunds a settled payment, occasionally too much or twice.
    function refund(uint256 drawn) external {
        uint256 seed = _count(drawn);
        if (settledNumbers.length == 0) return;
        uint64 number = settledNumbers[seed % settledNumbers.length];
        PaymentModel storage payment = payments[number];
        uint64 before = (seed >> 64) % 4 == 0 ? uint64(seed >> 66) : payment.refunded;
        if ((seed >> 250) % 8 == 0 && before != 0) --before;
        uint64 amount = (seed >> 128) % 3 == 0
            ? payment.amount - payment.refunded
            : uint64(bound(seed >> 130, 0, uint256(payment.amount) + 1));
        bool allowed = !refundingPaused && before == payment.refunded && amount != 0
            && payment.refunded + amount <= payment.amount
            && amount <= merchantBalance[payment.merchant] && !payers[payment.payer].blocked;
        if (allowed && !_outflowAllows(amount)) {
            (allowed, outflowsRefused) = (false, outflowsRefused + 1);
        }
        uint256 top = _drawNode(payment.batch, seed >> 200);
        // Occasionally names the node of another batch.
        uint256 index = RangeModel.indexOf((seed >> 240) % 8 == 0 ? batches : top);
        bool isProved = range.keeps(top) && index == RangeModel.indexOf(top);
        if (allowed && !isProved) (allowed, proofsRefused) = (false, proofsRefused + 1);
        assertTrue(_sendRefund(number, top, index, amount, before) == allowed, "refund");
        if (!allowed) {
            ++refundsRefused;
            return;
        }
        ++refundsPaid;
        payment.refunded += amount;
        paidIn[block.timestamp / 1 hours] += amount;
        merchantBalance[payment.merchant] -= amount;
        payers[payment.payer].balance += amount;
    }

    function _sendRefund(
        uint64 number,
        uint256 top,
        uint256 index,
        uint64 amount,
        uint64 before
    ) private returns (bool paid) {
        PaymentModel storage payment = payments[number];
        bytes32[] memory proof = _join(
            TreeModel.proof(leavesOf[payment.batch], payment.position),
            range.pathOf(payment.batch, top)
        );
        bytes memory call = abi.encodeCall(
            settlement.refund, (index, _packSettled(number), proof, amount, before, bytes16(0))
        );
        vm.prank(OPERATOR);
        (paid,) = address(settlement).call(call);
    }

    /// @dev Returns a written node above the batch, usually one that the contract still keeps.
    function _drawNode(uint256 batch, uint256 seed) private view returns (uint256 top) {
        top = batch;
        bool isKept = seed % 8 != 0;
        for (uint256 steps = (seed >> 3) % 8; RangeModel.above(top) <= batches; --steps) {
            if (isKept ? range.keeps(top) : steps == 0) return top;
            top = RangeModel.above(top);
            if (steps == 0) steps = 1;
        }
    }

    function _join(bytes32[] memory a, bytes32[] memory b)
        private
        pure
        returns (bytes32[] memory all)
    {
        all = new bytes32[](a.length + b.length);
        for (uint256 i = 0; i < all.length; ++i) {
            all[i] = i < a.length ? a[i] : b[i - a.length];
        }
    }

    /// @notice Withdraws as the operator or the wallet, occasionally too much, twice or to another
    /// wallet.
    function withdraw(uint256 drawn) external {
        uint256 seed = _count(drawn);
        uint32 to = uint32(1 + seed % MERCHANTS);
        uint64 amount = uint64(bound(seed >> 32, 0, merchantBalance[to] + 1));
        bool allowed = amount != 0 && amount <= merchantBalance[to];
        bool own = (seed >> 8) & 1 == 1;
        uint64 number = _withdrawalNumber(seed >> 16);
        address wallet = vm.addr(walletKeyOf[to]);
        address named = (seed >> 240) % 16 == 0 ? STRANGER : wallet;
        allowed = allowed && (own || (number != 0 && !withdrawalPaid[number] && named == wallet));
        bool waits = block.timestamp < heldUntil[to] || (!own && _isPending(to));
        if (allowed && waits) ++withdrawalsHeldBack;
        allowed = allowed && !waits;
        bytes memory call = own
            ? abi.encodeCall(settlement.withdrawOwn, (to, amount))
            : abi.encodeCall(settlement.withdraw, (to, named, amount, number));
        vm.prank(own ? wallet : OPERATOR);
        (bool paid,) = address(settlement).call(call);
        assertTrue(paid == allowed, "withdrawal");
        if (!paid) return;
        ++withdrawalsPaid;
        if (!own) withdrawalPaid[number] = true;
        merchantBalance[to] -= amount;
    }

    /// @dev Draws from the type's whole range, including its highest numbers, and sometimes repeats
    /// a used number.
    function _withdrawalNumber(uint256 seed) private returns (uint64 number) {
        uint256 used = withdrawalNumbers.length;
        if (seed % 4 == 0 && used > 0) return withdrawalNumbers[(seed >> 8) % used];
        number = uint64(seed >> 72) >> ((seed >> 8) % 64);
        if (seed % 16 == 1) number = type(uint64).max - number % 3;
        withdrawalNumbers.push(number);
    }

    /// @notice Proposes, cancels, applies and drops wallets, with accounts that may and with
    /// others.
    function changeWallet(uint256 drawn) external {
        uint256 seed = _count(drawn);
        uint32 whose = uint32(1 + seed % MERCHANTS);
        uint256 what = (seed >> 8) % 16;
        if (what < 7) _propose(whose, seed >> 16);
        else if (what < 10) _cancel(whose, seed >> 16);
        else if (what < 13) _apply(whose);
        else if (what == 13) _dropOfRegistrar(seed >> 16);
        else if (what == 14) _dropAll();
        else _replaceRegistrar();
    }

    function _isPending(uint32 whose) private view returns (bool) {
        ChangeModel storage change = changes[whose];
        return change.open && block.timestamp <= change.proposedAt + WALLET_DELAY + 7 days;
    }

    function _propose(uint32 whose, uint256 seed) private {
        address wallet = vm.addr(walletKeyOf[whose]);
        address[4] memory all = [wallet, REGISTRAR, REGISTRAR, STRANGER];
        address by = all[seed % 4];
        uint256 key = FIRST_WALLET_KEY + (seed >> 8) % WALLETS;
        bool forged = (seed >> 16) % 8 == 0;
        bytes memory consent = _signWalletConsent(forged ? key + 1 : key, whose, block.timestamp);
        bool allowed = by != STRANGER && !forged && !_isPending(whose);
        vm.prank(by);
        try settlement.proposeWallet(whose, vm.addr(key), block.timestamp, consent) {
            assertTrue(allowed, "a proposal that must be refused");
        } catch {
            assertTrue(!allowed, "a proposal that must be taken");
            return;
        }
        changes[whose] = ChangeModel(true, key, block.timestamp, by);
    }

    function _cancel(uint32 whose, uint256 seed) private {
        address wallet = vm.addr(walletKeyOf[whose]);
        address[4] memory all = [wallet, wallet, GUARDIAN, STRANGER];
        address by = all[seed % 4];
        bool allowed = _isPending(whose) && by != STRANGER;
        vm.prank(by);
        try settlement.cancelWallet(whose) {
            assertTrue(allowed, "a cancellation that must be refused");
        } catch {
            assertTrue(!allowed, "a cancellation that must be taken");
            return;
        }
        changes[whose].open = false;
        ++walletsCanceled;
    }

    function _apply(uint32 whose) private {
        ChangeModel storage change = changes[whose];
        bool allowed = _isPending(whose) && block.timestamp >= change.proposedAt + WALLET_DELAY;
        try settlement.applyWallet(whose) {
            assertTrue(allowed, "a wallet that must not apply");
        } catch {
            assertTrue(!allowed, "a wallet that must apply");
            return;
        }
        walletKeyOf[whose] = change.key;
        change.open = false;
        ++walletsApplied;
    }

    function _dropAll() private {
        vm.prank(GUARDIAN);
        settlement.dropWalletChanges();
        for (uint32 whose = 1; whose <= MERCHANTS; ++whose) {
            if (_isPending(whose)) ++walletsDropped;
            changes[whose].open = false;
        }
    }

    function _dropOfRegistrar(uint256 seed) private {
        vm.prank(seed % 2 == 0 ? WATCHER : GUARDIAN);
        settlement.dropWalletChangesOf(REGISTRAR);
        _forgetProposalsOfRegistrar();
    }

    /// @dev Replaces the registrar, which ends its proposals. Granting the role again does not
    /// restore them.
    function _replaceRegistrar() private {
        bytes32 role = settlement.REGISTRAR_ROLE();
        vm.prank(STEWARD);
        settlement.revokeRole(role, REGISTRAR);
        _forgetProposalsOfRegistrar();
        _grant(role, REGISTRAR);
    }

    function _forgetProposalsOfRegistrar() private {
        for (uint32 whose = 1; whose <= MERCHANTS; ++whose) {
            if (changes[whose].proposer != REGISTRAR) continue;
            if (_isPending(whose)) ++walletsDropped;
            changes[whose].open = false;
        }
    }

    /// @notice Extends a merchant's payout hold. Some attempts come too late or are too long, and
    /// must be refused.
    function hold(uint256 drawn) external {
        uint256 seed = _count(drawn);
        uint32 whose = uint32(1 + seed % MERCHANTS);
        uint256 until = block.timestamp + (seed >> 8) % 32 days;
        bool allowed = block.timestamp < heldUntil[whose] && until > heldUntil[whose]
            && until <= 20_000 days + 12 hours + 30 days;
        vm.prank(GUARDIAN);
        try settlement.holdPayouts(whose, uint32(until)) {
            assertTrue(allowed, "a hold that must be refused");
        } catch {
            assertTrue(!allowed, "a hold that must be taken");
            return;
        }
        heldUntil[whose] = until;
        ++holdsExtended;
    }

    /// @notice Grants or revokes an operator's or a guardian's role. The first guardian always
    /// stays.
    function changeRoles(uint256 drawn) external {
        uint256 seed = _count(drawn);
        bytes32 operators = settlement.OPERATOR_ROLE();
        bytes32 guardians = settlement.GUARDIAN_ROLE();
        if (seed % 2 == 0) {
            if (spareOperates) _revoke(operators, SPARE_OPERATOR);
            else _grant(operators, SPARE_OPERATOR);
            spareOperates = !spareOperates;
        } else {
            if (otherGuards) _revoke(guardians, OTHER_GUARDIAN);
            else _grant(guardians, OTHER_GUARDIAN);
            otherGuards = !otherGuards;
        }
        assertTrue(settlement.hasRole(operators, SPARE_OPERATOR) == spareOperates, "operator");
        assertTrue(settlement.hasRole(guardians, OTHER_GUARDIAN) == otherGuards, "guardian");
        if (otherGuards) return;
        vm.expectRevert(ISettlement.LastGuardianStays.selector);
        vm.prank(STEWARD);
        settlement.revokeRole(guardians, GUARDIAN);
    }

    function _revoke(bytes32 role, address account) private {
        vm.prank(STEWARD);
        settlement.revokeRole(role, account);
    }

    /// @notice Enrols a payer for the current terms or for others, with a valid or an invalid
    /// signature.
    function enrol(uint256 drawn) external {
        uint256 seed = _count(drawn);
        uint256 index = seed % (PAYERS - 1);
        PayerModel storage model = payers[index];
        if (model.blocked) return;
        ISettlement.Policy memory policy = model.policy;
        bool isSame = !model.revoked && (seed >> 8) % 2 == 0;
        if (!isSame) {
            policy = _widePolicy();
            policy.perPayment = uint48(bound(seed >> 16, 1e8, 1e9));
            policy.perPeriod = 2 * policy.perPayment;
            policy.maxFeeRate = 120;
        }
        isSame = isSame || (!model.revoked && _sameTerms(policy, model.policy));
        bool forged = (seed >> 72) % 3 == 0;
        bytes memory signature = _signPolicy(forged ? 1 : model.key, policy, block.timestamp);
        // Usually enough for one or two payments, so that allowances run out.
        uint256 needed = policy.perPayment + policy.perPayment * policy.maxFeeRate / 10_000;
        uint256 value = needed + (seed >> 96) % 1e9;
        if ((seed >> 80) % 8 == 0) value = needed - 1;
        ISettlement.Permit memory permit = _permit(model.key, value, block.timestamp);
        bool allowed = value >= needed
            && (forged ? isSame : policy.expiresAt > block.timestamp);
        uint256 nonce = settlement.nonces(model.account);
        vm.prank(STRANGER);
        try settlement.enrol(model.account, policy, block.timestamp, signature, permit) {
            assertTrue(allowed, "an enrolment that must be refused");
        } catch {
            assertTrue(!allowed, "an enrolment that must be taken");
            ++enrolmentsRefused;
            return;
        }
        ++enrolments;
        model.allowance = value;
        // Only a valid signature consumes its nonce.
        assertEq(settlement.nonces(model.account), forged ? nonce : nonce + 1, "nonce");
        if (!forged) _recordPolicy(model, policy);
    }

    function _recordPolicy(PayerModel storage model, ISettlement.Policy memory policy) private {
        (model.enrolled, model.revoked, model.policy, model.spent) = (true, false, policy, 0);
    }

    function _sameTerms(ISettlement.Policy memory a, ISettlement.Policy memory b)
        private
        pure
        returns (bool)
    {
        return keccak256(abi.encode(a)) == keccak256(abi.encode(b));
    }

    function collectFees(uint256 drawn) external {
        uint256 seed = _count(drawn);
        uint64 acquirer = uint64(bound(seed, 0, acquirerFees + 1));
        uint64 protocol = uint64(bound(seed >> 64, 0, protocolFees + 1));
        vm.prank(TREASURER);
        try settlement.collectFees(STRANGER, acquirer, protocol) {
            acquirerFees -= acquirer;
            protocolFees -= protocol;
        } catch {
            assertTrue(acquirer > acquirerFees || protocol > protocolFees, "collecting fees");
        }
    }

    function changePolicy(uint256 drawn) external {
        uint256 seed = _count(drawn);
        uint256 index = seed % (PAYERS - 1);
        if ((seed >> 8) % 8 == 0) {
            vm.prank(payers[index].account);
            settlement.revokePolicy();
            payers[index].revoked = true;
            return;
        }
        ISettlement.Policy memory policy = _widePolicy();
        policy.perPayment = uint48(bound(seed >> 16, 1e8, 1e9));
        policy.perPeriod =
            uint48(bound(seed >> 64, policy.perPayment, 2 * uint256(policy.perPayment)));
        policy.periodSeconds = uint24(bound(seed >> 112, 60, 3 days));
        policy.maxFeeRate = uint16(bound(seed >> 160, 80, 120));
        if ((seed >> 200) % 8 == 0) {
            policy.expiresAt = uint40(block.timestamp + 1 + (seed >> 208) % 2 days);
        }
        _setPolicy(index, policy);
    }

    /// @notice Funds or drains a payer, changes its allowance, or blocks it.
    function changePayer(uint256 drawn) external {
        uint256 seed = _count(drawn);
        uint256 index = seed % PAYERS;
        uint256 what = (seed >> 8) % 4;
        if (what == 0) _fund(index, (seed >> 16) % 5e10);
        if (what == 1) _drain(index, seed >> 16);
        if (what == 2) {
            _approve(index, (seed >> 16) % 4 != 0 ? type(uint256).max : (seed >> 17) % 2e9);
        }
        if (what == 3) {
            payers[index].blocked = (seed >> 16) % 4 == 0;
            vm.prank(ADMIN);
            token.setBlocked(payers[index].account, payers[index].blocked);
        }
    }

    /// @notice Advances the time, mostly by hours, and sometimes by more than the lifetime of a
    /// proposal.
    function wait(uint256 drawn) external {
        uint256 seed = _count(drawn);
        if ((seed >> 128) % 16 == 0) return _lapse(seed);
        vm.warp(block.timestamp + seed % 1 days);
    }

    /// @dev An operation that was not executed in time can never be executed. Pending wallets
    /// expire meanwhile, too, which the model tracks by their time.
    function _lapse(uint256 seed) private {
        bytes32 salt = keccak256(abi.encode(seed));
        ISettlement.Rates memory high = ISettlement.Rates(300, 0, 0);
        bytes[3] memory calls = [
            abi.encodeCall(settlement.setRates, (high)),
            abi.encodeCall(settlement.raiseCeiling, (CEILING)),
            abi.encodeCall(settlement.grantRole, (settlement.WATCH_ROLE(), STRANGER))
        ];
        for (uint256 i = 0; i < 3; ++i) _schedule(address(settlement), calls[i], salt);
        vm.warp(block.timestamp + GOVERNANCE_DELAY + 7 days + 1 + (seed >> 8) % 1 days);
        for (uint256 i = 0; i < 3; ++i) _expectNotExecuted(calls[i], salt);
        ++lapses;
    }

    function _expectNotExecuted(bytes memory data, bytes32 salt) private {
        try this.executeAs(address(settlement), data, salt) {
            revert("an operation that must not be executed");
        } catch {}
    }

    function executeAs(address target, bytes calldata data, bytes32 salt) external {
        _execute(target, data, salt);
    }

    /// @notice A thief with a proposer's key schedules many operations, and a guardian cancels all
    /// of them.
    function flood(uint256 drawn) external {
        uint256 seed = _count(drawn);
        bytes memory data =
            abi.encodeCall(settlement.grantRole, (settlement.OPERATOR_ROLE(), STRANGER));
        bytes32[] memory ids = new bytes32[](1 + seed % 20);
        for (uint256 i = 0; i < ids.length; ++i) {
            ids[i] = _schedule(address(settlement), data, keccak256(abi.encode(seed, i)));
        }
        vm.warp(block.timestamp + (seed >> 8) % 1 hours);
        vm.prank(GUARDIAN);
        settlement.cancelOperations(ids);
        for (uint256 i = 0; i < ids.length; ++i) {
            assertTrue(!timelock().isOperation(ids[i]), "an operation that was canceled");
        }
        operationsCanceled += ids.length;
    }

    function changeRates(uint256 drawn) external {
        uint256 seed = _count(drawn);
        uint16 acquirer = uint16(seed % 60);
        uint16 protocol = uint16((seed >> 16) % 60);
        uint16 cashback = uint16((seed >> 32) % (uint256(protocol) + 1));
        _setRates(acquirer, protocol, cashback);
        rates = Fees(acquirer, protocol, cashback);
    }

    /// @notice Pauses rarely and briefly, because a campaign should mostly pay.
    function pause(uint256 drawn) external {
        uint256 seed = _count(drawn);
        bool was = settlingPaused || refundingPaused;
        if (!was && seed % 8 == 0) {
            vm.prank(GUARDIAN);
            settlement.pauseSettling();
            settlingPaused = true;
        }
        if (!was && seed % 7 == 0) {
            vm.prank(GUARDIAN);
            settlement.pauseRefunding();
            refundingPaused = true;
        }
        assertTrue(lens().settlingPaused() == settlingPaused, "settling paused");
        assertTrue(lens().refundingPaused() == refundingPaused, "refunding paused");
        if (!was) return;
        vm.prank(STEWARD);
        settlement.unpauseSettling();
        vm.prank(STEWARD);
        settlement.unpauseRefunding();
        (settlingPaused, refundingPaused) = (false, false);
    }

    function contracts() external view returns (ISettlement, ITestUSDC) {
        return (settlement, token);
    }

    /// @dev Hashes the drawn number, because forge prefers small and repeated ones, which would
    /// leave parts of `seed` zero.
    function _count(uint256 drawn) private returns (uint256 seed) {
        return uint256(keccak256(abi.encode(drawn, ++actions)));
    }

    function _closeBatch() private {
        ++batches;
        bytes32 root = TreeModel.root(leavesOf[batches]);
        bytes32 node = range.append(root);
        uint256 index = RangeModel.indexOf(batches);
        assertEq(settlement.rangeNode(index), node, "node of the batch");
    }

    function _randomItem(uint256 seed) private pure returns (Item memory item) {
        item.number = _paymentNumber(seed % NUMBERS);
        item.payer = (seed >> 32) % PAYERS;
        item.merchant = uint32((seed >> 64) % 16 == 0 ? 3 : 1 + (seed >> 72) % MERCHANTS);
        item.amount = uint40(bound(seed >> 96, 1, 6e8));
        item.orderId = bytes8("ORDER-1");
        if ((seed >> 160) % 32 == 0) item.amount = 0;
        if ((seed >> 168) % 32 == 0) item.orderId = 0;
    }

    function _paymentNumber(uint256 index) private pure returns (uint64) {
        if (index < 300) return uint64(index);
        if (index < 512) return type(uint64).max - uint64(index - 300);
        return uint64((uint256(1) << (index % 64)) - index % 2);
    }

    /// @notice Lowers the ceiling, restores it, or raises it after the delay: sometimes it binds.
    function changeCeiling(uint256 drawn) external {
        uint256 seed = _count(drawn);
        uint24 wanted = uint24(seed % 3 == 0 ? bound(seed >> 8, 1, 3_000) : approvedCeiling);
        if ((seed >> 40) % 4 == 0 && approvedCeiling < CEILING) {
            bool lowered = ceiling < approvedCeiling;
            approvedCeiling += 1 + (seed >> 48) % (CEILING - approvedCeiling) / 50;
            _govern(abi.encodeCall(settlement.raiseCeiling, (uint24(approvedCeiling))));
            if (lowered) ++raisesHeldBack;
            else ceiling = approvedCeiling;
        } else if (wanted < ceiling) {
            vm.prank(GUARDIAN);
            settlement.lowerCeiling(wanted);
            ceiling = wanted;
        } else if (wanted > ceiling) {
            vm.prank(STEWARD);
            settlement.restoreCeiling(wanted);
            ceiling = wanted;
        }
        (uint64 perHour,) = lens().ceiling();
        assertEq(perHour, ceiling * 1e6, "ceiling");
    }

    function _packSettled(uint64 number) private view returns (bytes memory) {
        PaymentModel storage payment = payments[number];
        return
            _pack(Item(number, payment.payer, payment.merchant, payment.amount, bytes8("ORDER-1")));
    }

    function _setPolicy(uint256 index, ISettlement.Policy memory policy) private {
        PayerModel storage model = payers[index];
        vm.prank(model.account);
        settlement.setPolicy(policy);
        _recordPolicy(model, policy);
    }

    function _fund(uint256 index, uint256 amount) private {
        bool blocked = payers[index].blocked;
        if (blocked) return;
        token.mint(payers[index].account, amount);
        payers[index].balance += amount;
    }

    function _drain(uint256 index, uint256 seed) private {
        if (payers[index].blocked) return;
        // Usually leaves enough for about one payment, so that payers do run out of money.
        uint256 rest = seed % 1e9;
        uint256 amount = payers[index].balance > rest ? payers[index].balance - rest : 0;
        vm.prank(payers[index].account);
        token.transfer(address(this), amount);
        payers[index].balance -= amount;
    }

    function _approve(uint256 index, uint256 amount) private {
        vm.prank(payers[index].account);
        token.approve(address(settlement), amount);
        payers[index].allowance = amount;
    }
}

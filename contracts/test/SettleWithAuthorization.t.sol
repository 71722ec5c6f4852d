// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Reason} from "../PaymentTypes.sol";
import {ISettlement} from "../artifacts/ISettlement.sol";
import {SettlementFixture} from "./SettlementFixture.sol";

contract SettleWithAuthorizationTest is SettlementFixture {
    uint256 private constant AGENT_KEY = 0xa6e;
    bytes32 private constant SALT = bytes32(uint256(77));
    bytes8 private constant ORDER = bytes8("ORDER-1");

    /// @dev Has money, but neither allowance nor policy.
    address private agentPayer;

    function setUp() public override {
        super.setUp();
        agentPayer = vm.addr(AGENT_KEY);
        token.mint(agentPayer, 1e13);
    }

    function _free() private view returns (ISettlement.Authorization memory) {
        bytes32 nonce = settlement.authorizationNonce(merchant, SALE, 0, bytes8(0), SALT);
        return _authorization(AGENT_KEY, PULLED, nonce, false, SALT);
    }

    function _bound(uint64 number) private view returns (ISettlement.Authorization memory) {
        bytes32 nonce = settlement.authorizationNonce(merchant, SALE, number, ORDER, SALT);
        return _authorization(AGENT_KEY, PULLED, nonce, true, SALT);
    }

    function _send(bytes memory payment, ISettlement.Authorization memory authorization)
        private
        returns (uint8)
    {
        vm.prank(OPERATOR);
        return settlement.settleWithAuthorization(payment, authorization, _now());
    }

    function _agentSale(uint64 number) private view returns (bytes memory) {
        return _packed(number, agentPayer, merchant, SALE);
    }

    function test_settlesWithoutAllowanceOrPolicyAndIsBookedLikeAnyOther() public {
        vm.expectEmit();
        emit ISettlement.PaymentSettled(
            1,
            agentPayer,
            bytes17(abi.encodePacked(merchant, SALE, ORDER)),
            (uint256(1) << 192) | (uint256(7_500) << 128) | (uint256(5_000) << 64) | 1_250
        );
        assertEq(_send(_agentSale(1), _free()), Reason.NONE, "reason");
        assertEq(_balanceOf(merchant), SALE, "merchant");
        assertEq(1e13 - token.balanceOf(agentPayer), PULLED, "payer");
        assertTrue(settlement.isSettled(1), "settled");
        assertEq(settlement.rangeNode(1), keccak256(_agentSale(1)), "root of a batch of one");
    }

    function test_isGoodForOnePaymentOnly() public {
        ISettlement.Authorization memory authorization = _free();
        assertEq(_send(_agentSale(1), authorization), Reason.NONE, "first");
        assertEq(_send(_agentSale(2), authorization), Reason.AUTHORIZATION_REFUSED, "second");
        assertEq(_send(_agentSale(1), authorization), Reason.ALREADY_SETTLED, "same number");
        assertTrue(!settlement.isSettled(2), "nothing written");
    }

    function test_bindsMerchantAmountAndPayer() public {
        ISettlement.Authorization memory authorization = _free();
        bytes[3] memory others = [
            _packed(1, agentPayer, otherMerchant, SALE),
            _packed(1, agentPayer, merchant, SALE - 1),
            _packed(1, payer, merchant, SALE)
        ];
        for (uint256 i = 0; i < others.length; ++i) {
            assertEq(
                _send(others[i], authorization), Reason.AUTHORIZATION_REFUSED, "another payment"
            );
        }
        assertEq(_send(_agentSale(1), authorization), Reason.NONE, "its payment");
    }

    function test_canBindNumberAndOrder() public {
        ISettlement.Authorization memory authorization = _bound(5);
        assertEq(_send(_agentSale(6), authorization), Reason.AUTHORIZATION_REFUSED, "number");
        bytes memory otherOrder =
            abi.encodePacked(uint64(5), agentPayer, merchant, SALE, bytes8("ORDER-2"));
        assertEq(_send(otherOrder, authorization), Reason.AUTHORIZATION_REFUSED, "order");
        authorization.bindsOrder = false;
        assertEq(_send(_agentSale(5), authorization), Reason.AUTHORIZATION_REFUSED, "loosened");
        authorization.bindsOrder = true;
        assertEq(_send(_agentSale(5), authorization), Reason.NONE, "its payment");
    }

    function test_aFreeAuthorizationCannotBeUsedAsABoundOne() public {
        ISettlement.Authorization memory authorization = _free();
        authorization.bindsOrder = true;
        assertEq(_send(_agentSale(0), authorization), Reason.AUTHORIZATION_REFUSED, "number 0");
    }

    function test_expiredForgedAndUnfundedAuthorizationsAreRefused() public {
        ISettlement.Authorization memory authorization = _free();
        authorization.signature[63] ^= 0x01;
        assertEq(_send(_agentSale(1), authorization), Reason.AUTHORIZATION_REFUSED, "forged");
        authorization = _free();
        vm.warp(block.timestamp + 1 hours);
        assertEq(_send(_agentSale(1), authorization), Reason.AUTHORIZATION_REFUSED, "expired");
        authorization = _free();
        vm.prank(agentPayer);
        token.transfer(STRANGER, 1e13 - PULLED + 1);
        assertEq(_send(_agentSale(1), authorization), Reason.INSUFFICIENT_FUNDS, "unfunded");
    }

    function test_nothingSettlesAfterItsDeadline() public {
        ISettlement.Authorization memory authorization = _free();
        bytes memory payment = _agentSale(1);
        expectError(ISettlement.PaymentsTooLate.selector, _now(), _now() - 1);
        vm.prank(OPERATOR);
        settlement.settleWithAuthorization(payment, authorization, _now() - 1);
        assertEq(_send(payment, authorization), Reason.NONE, "in time");
    }

    function test_theSaltIsPartOfTheAuthorization() public {
        ISettlement.Authorization memory authorization = _free();
        authorization.salt = bytes32(uint256(SALT) + 1);
        assertEq(_send(_agentSale(1), authorization), Reason.AUTHORIZATION_REFUSED, "free");
        authorization = _bound(1);
        authorization.salt = 0;
        assertEq(_send(_agentSale(1), authorization), Reason.AUTHORIZATION_REFUSED, "bound");
    }

    function test_anAuthorizationIsValidOnlyBetweenItsTwoTimes() public {
        bytes32 nonce = settlement.authorizationNonce(merchant, SALE, 0, bytes8(0), SALT);
        uint256 from = block.timestamp + 60;
        ISettlement.Authorization memory authorization =
            _authorizationFrom(AGENT_KEY, PULLED, nonce, SALT, from);
        assertEq(_send(_agentSale(1), authorization), Reason.AUTHORIZATION_REFUSED, "early");
        authorization.validAfter = 0;
        assertEq(_send(_agentSale(1), authorization), Reason.AUTHORIZATION_REFUSED, "not signed");
        authorization.validAfter = from;
        vm.warp(from + 1);
        authorization.validBefore += 1;
        assertEq(_send(_agentSale(1), authorization), Reason.AUTHORIZATION_REFUSED, "longer");
        authorization.validBefore -= 1;
        assertEq(_send(_agentSale(1), authorization), Reason.NONE, "in time");
    }

    function test_anAuthorizationIsVoidAfterRatesChange() public {
        bytes memory data = abi.encodeCall(settlement.setRates, (ISettlement.Rates(31, 20, 5)));
        _schedule(address(settlement), data, "a");
        vm.warp(block.timestamp + GOVERNANCE_DELAY);
        ISettlement.Authorization memory authorization = _free();
        _execute(address(settlement), data, "a");
        assertEq(_send(_agentSale(1), authorization), Reason.AUTHORIZATION_REFUSED, "reason");
    }

    function test_checksThePaymentLikeABatch() public {
        ISettlement.Authorization memory authorization = _free();
        _settle(_sale(1));
        assertEq(_send(_agentSale(1), authorization), Reason.ALREADY_SETTLED, "number");
        bytes memory payment = _packed(2, agentPayer, 99, SALE);
        assertEq(_send(payment, authorization), Reason.MERCHANT_UNKNOWN, "merchant");
        payment = _packed(2, agentPayer, merchant, 0);
        vm.expectEmit();
        emit ISettlement.PaymentFailed(2, Reason.AMOUNT_INVALID);
        assertEq(_send(payment, authorization), Reason.AMOUNT_INVALID, "amount");
        assertEq(lens().batchCount(), 1, "no batch for nothing");
    }

    function test_onlyOperatorsSettleOnePaymentWhileNotPaused() public {
        ISettlement.Authorization memory authorization = _free();
        bytes memory two = bytes.concat(_agentSale(1), _agentSale(2));
        expectError(ISettlement.NotOnePayment.selector, 2);
        vm.prank(OPERATOR);
        settlement.settleWithAuthorization(two, authorization, _now());
        bytes memory one = _agentSale(1);
        bytes32 role = settlement.OPERATOR_ROLE();
        _expectRole(STRANGER, role);
        vm.prank(STRANGER);
        settlement.settleWithAuthorization(one, authorization, _now());
        vm.prank(GUARDIAN);
        settlement.pauseSettling();
        vm.expectRevert(ISettlement.SettlingIsPaused.selector);
        vm.prank(OPERATOR);
        settlement.settleWithAuthorization(one, authorization, _now());
    }

    function test_noOtherCallerCanUseTheAuthorization() public {
        ISettlement.Authorization memory a = _free();
        bytes32 nonce = settlement.authorizationNonce(merchant, SALE, 0, bytes8(0), SALT);
        vm.expectRevert(abi.encodeWithSignature("ERC20InvalidReceiver(address)", settlement));
        vm.prank(STRANGER);
        token.receiveWithAuthorization(
            agentPayer, address(settlement), PULLED, 0, a.validBefore, nonce, a.signature
        );
    }
}

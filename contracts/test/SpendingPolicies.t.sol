// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Reason} from "../PaymentTypes.sol";
import {ISettlement} from "../artifacts/ISettlement.sol";
import {ISettlementLens} from "../artifacts/ISettlementLens.sol";
import {SettlementFixture} from "./SettlementFixture.sol";

contract SpendingPoliciesTest is SettlementFixture {
    uint256 private constant NEW_KEY = 0x4e4577;

    address private newcomer;

    function setUp() public override {
        super.setUp();
        newcomer = vm.addr(NEW_KEY);
        token.mint(newcomer, 1e13);
    }

    function _enrol(ISettlement.Permit memory permit) private {
        bytes memory signature = _signPolicy(NEW_KEY, _widePolicy(), block.timestamp);
        vm.prank(STRANGER);
        settlement.enrol(newcomer, _widePolicy(), block.timestamp, signature, permit);
    }

    function _expectPolicyRevert(ISettlement.Policy memory policy, bytes memory reason) private {
        vm.expectRevert(reason);
        vm.prank(newcomer);
        settlement.setPolicy(policy);
    }

    function test_enrolsWithTwoSignaturesAndNoGasOfThePayer() public {
        _enrol(_permit(NEW_KEY, type(uint256).max, block.timestamp));
        assertEq(token.allowance(newcomer, address(settlement)), type(uint256).max, "allowance");
        assertEq(_settleOne(_packed(1, newcomer, merchant, SALE)), Reason.NONE, "pays");
    }

    function test_aFrontRunPermitDoesNotStopTheEnrolment() public {
        ISettlement.Permit memory permit = _permit(NEW_KEY, 2e12, block.timestamp);
        token.permit(newcomer, address(settlement), 2e12, permit.deadline, permit.signature);
        _enrol(permit);
        assertEq(lens().payerAccount(newcomer).perPayment, 1e12, "policy");
    }

    function test_aFrontRunPolicyDoesNotStopTheEnrolment() public {
        ISettlement.Permit memory permit = _permit(NEW_KEY, 2e12, block.timestamp);
        bytes memory signature = _signPolicy(NEW_KEY, _widePolicy(), block.timestamp);
        settlement.setPolicyBySignature(newcomer, _widePolicy(), block.timestamp, signature);
        settlement.enrol(newcomer, _widePolicy(), block.timestamp, signature, permit);
        assertEq(token.allowance(newcomer, address(settlement)), 2e12, "allowance");
        assertEq(lens().payerAccount(newcomer).nonce, 1, "used once");
    }

    function test_enrollingForCurrentTermsConsumesTheSignature() public {
        _settle(_sale(1));
        ISettlement.Permit memory permit = _permit(PAYER_KEY, 2e12, block.timestamp);
        bytes memory signature = _signPolicy(PAYER_KEY, _widePolicy(), block.timestamp);
        uint256 nonce = settlement.nonces(payer);
        settlement.enrol(payer, _widePolicy(), block.timestamp, signature, permit);
        assertEq(settlement.nonces(payer), nonce + 1, "used up");
        assertEq(lens().payerAccount(payer).spent, 0, "as if it had been set by signature");
        _settle(_sale(2));
        expectError(ISettlement.SignatureInvalid.selector, payer);
        vm.prank(STRANGER);
        settlement.setPolicyBySignature(payer, _widePolicy(), block.timestamp, signature);
        // Repeating the call does not reset the sum spent.
        settlement.enrol(payer, _widePolicy(), block.timestamp, signature, permit);
        assertEq(lens().payerAccount(payer).spent, SALE, "spent");
    }

    function test_noCallerVoidsASignatureByEnrollingThePayerForCurrentTerms() public {
        bytes memory signature = _signRevocation(PAYER_KEY, block.timestamp);
        ISettlement.Permit memory permit = _permit(NEW_KEY, 2e12, block.timestamp);
        bytes memory foreign = _signPolicy(NEW_KEY, _widePolicy(), block.timestamp);
        vm.prank(STRANGER);
        settlement.enrol(payer, _widePolicy(), block.timestamp, foreign, permit);
        settlement.revokePolicyBySignature(payer, block.timestamp, signature);
        assertEq(lens().payerAccount(payer).expiresAt, 1, "revoked");
    }

    function test_aPolicyOtherThanTheCurrentOneNeedsItsSignature() public {
        ISettlement.Policy memory policy = _widePolicy();
        ISettlement.Permit memory permit = _permit(NEW_KEY, 1e12, block.timestamp);
        bytes memory signature = _signPolicy(NEW_KEY, policy, block.timestamp);
        settlement.setPolicyBySignature(newcomer, policy, block.timestamp, signature);
        for (uint256 i = 0; i < 5; ++i) {
            policy = _widePolicy();
            if (i == 0) policy.perPayment -= 1;
            if (i == 1) policy.perPeriod -= 1;
            if (i == 2) policy.periodSeconds -= 1;
            if (i == 3) policy.expiresAt -= 1;
            if (i == 4) policy.maxFeeRate -= 1;
            expectError(ISettlement.SignatureInvalid.selector, newcomer);
            settlement.enrol(newcomer, policy, block.timestamp, signature, permit);
        }
    }

    /// @dev The allowance must cover 10^12 and 50 basis points of it. A lower one would refuse a
    /// sale that the policy allows.
    function test_enrolmentNeedsAnAllowanceForTheLargestSaleWithFees() public {
        uint256 needed = 1e12 + 5e9;
        ISettlement.Permit memory permit = _permit(NEW_KEY, needed - 1, block.timestamp);
        bytes memory signature = _signPolicy(NEW_KEY, _widePolicy(), block.timestamp);
        expectError(ISettlement.AllowanceTooLow.selector, needed - 1, needed);
        settlement.enrol(newcomer, _widePolicy(), block.timestamp, signature, permit);
        permit.signature[31] ^= 0x01;
        expectError(ISettlement.AllowanceTooLow.selector, 0, needed);
        settlement.enrol(newcomer, _widePolicy(), block.timestamp, signature, permit);
        assertEq(lens().payerAccount(newcomer).expiresAt, 0, "no policy");
        permit = _permit(NEW_KEY, needed, block.timestamp);
        settlement.enrol(newcomer, _widePolicy(), block.timestamp, signature, permit);
        assertEq(_settleOne(_packed(1, newcomer, merchant, 1e12)), Reason.NONE, "the dearest");
    }

    /// @dev No sale is above 10^12 and no fees above 300 basis points, even if a policy allows more.
    function test_enrolmentNeedsNoMoreThanTheLargestSaleWithFees() public {
        ISettlement.Policy memory policy = _widePolicy();
        (policy.perPayment, policy.perPeriod) = (type(uint48).max, type(uint48).max);
        policy.maxFeeRate = type(uint16).max;
        uint256 needed = 1e12 + 3e10;
        bytes memory signature = _signPolicy(NEW_KEY, policy, block.timestamp);
        ISettlement.Permit memory permit = _permit(NEW_KEY, needed - 1, block.timestamp);
        expectError(ISettlement.AllowanceTooLow.selector, needed - 1, needed);
        settlement.enrol(newcomer, policy, block.timestamp, signature, permit);
        permit = _permit(NEW_KEY, needed, block.timestamp);
        settlement.enrol(newcomer, policy, block.timestamp, signature, permit);
    }

    function test_aSignedPolicyIsUsedOnce() public {
        bytes memory signature = _signPolicy(NEW_KEY, _widePolicy(), block.timestamp);
        vm.expectEmit();
        emit ISettlement.PolicySet(newcomer, 1e12, 1e13, 1 days, FOREVER, 50);
        settlement.setPolicyBySignature(newcomer, _widePolicy(), block.timestamp, signature);
        expectError(ISettlement.SignatureInvalid.selector, newcomer);
        settlement.setPolicyBySignature(newcomer, _widePolicy(), block.timestamp, signature);
    }

    function test_theSignatureCoversEveryTermOfThePolicy() public {
        bytes memory signature = _signPolicy(NEW_KEY, _widePolicy(), block.timestamp);
        ISettlement.Policy[5] memory changed;
        for (uint256 i = 0; i < changed.length; ++i) {
            changed[i] = _widePolicy();
        }
        changed[0].perPayment -= 1;
        changed[1].perPeriod += 1;
        changed[2].periodSeconds -= 1;
        changed[3].expiresAt -= 1;
        changed[4].maxFeeRate += 1;
        for (uint256 i = 0; i < changed.length; ++i) {
            expectError(ISettlement.SignatureInvalid.selector, newcomer);
            settlement.setPolicyBySignature(newcomer, changed[i], block.timestamp, signature);
        }
        expectError(ISettlement.SignatureInvalid.selector, newcomer);
        settlement.setPolicyBySignature(newcomer, _widePolicy(), block.timestamp + 1, signature);
        expectError(ISettlement.SignatureInvalid.selector, payer);
        settlement.setPolicyBySignature(payer, _widePolicy(), block.timestamp, signature);
        vm.warp(block.timestamp + 1);
        expectError(ISettlement.SignatureExpired.selector, block.timestamp - 1, block.timestamp);
        settlement.setPolicyBySignature(newcomer, _widePolicy(), block.timestamp - 1, signature);
    }

    function test_revokingEndsThePolicyAtOnce() public {
        vm.expectEmit();
        emit ISettlement.PolicyRevoked(payer);
        vm.prank(payer);
        settlement.revokePolicy();
        assertEq(_settleOne(_sale(1)), Reason.POLICY_REVOKED, "reason");
        ISettlementLens.PayerAccount memory account = lens().payerAccount(payer);
        assertEq(account.expiresAt, 1, "shown as revoked");
        assertEq(account.maxFeeRate, 0, "no fees");
        assertEq(account.perPayment, 0, "no payment");
        assertEq(account.perPeriod, 0, "no sum");
        assertEq(account.periodSeconds, 0, "no period");
        vm.prank(payer);
        settlement.setPolicy(_widePolicy());
        assertEq(_settleOne(_sale(1)), Reason.NONE, "enrolled anew");
    }

    function test_revokingBySignatureEndsThePolicyToo() public {
        bytes memory signature = _signRevocation(PAYER_KEY, block.timestamp);
        vm.prank(STRANGER);
        settlement.revokePolicyBySignature(payer, block.timestamp, signature);
        assertEq(_settleOne(_sale(1)), Reason.POLICY_REVOKED, "reason");
        expectError(ISettlement.SignatureInvalid.selector, payer);
        settlement.revokePolicyBySignature(payer, block.timestamp, signature);
        signature = _signRevocation(NEW_KEY, block.timestamp - 1);
        expectError(ISettlement.SignatureExpired.selector, block.timestamp - 1, block.timestamp);
        settlement.revokePolicyBySignature(newcomer, block.timestamp - 1, signature);
    }

    function test_revokingVoidsSignedPoliciesThatWereNotUsed() public {
        bytes memory signature = _signPolicy(PAYER_KEY, _widePolicy(), block.timestamp);
        vm.prank(payer);
        settlement.revokePolicy();
        expectError(ISettlement.SignatureInvalid.selector, payer);
        settlement.setPolicyBySignature(payer, _widePolicy(), block.timestamp, signature);
    }

    function test_settingAPolicyVoidsSignedPoliciesToo() public {
        bytes memory signature = _signPolicy(PAYER_KEY, _widePolicy(), block.timestamp);
        vm.prank(payer);
        settlement.setPolicy(_widePolicy());
        expectError(ISettlement.SignatureInvalid.selector, payer);
        settlement.setPolicyBySignature(payer, _widePolicy(), block.timestamp, signature);
    }

    function test_invalidPoliciesAreRefused() public {
        ISettlement.Policy memory policy = _widePolicy();
        policy.perPayment = 0;
        _expectPolicyRevert(policy, abi.encodePacked(ISettlement.PerPaymentCapZero.selector));
        policy = _widePolicy();
        policy.perPeriod = policy.perPayment - 1;
        _expectPolicyRevert(
            policy,
            abi.encodeWithSelector(ISettlement.PerPeriodCapBelowPerPayment.selector, 1e12 - 1, 1e12)
        );
        policy = _widePolicy();
        policy.periodSeconds = 59;
        _expectPolicyRevert(
            policy, abi.encodeWithSelector(ISettlement.PeriodTooShort.selector, 59, 60)
        );
        policy = _widePolicy();
        policy.expiresAt = uint40(block.timestamp);
        _expectPolicyRevert(
            policy,
            abi.encodeWithSelector(
                ISettlement.ExpiryInThePast.selector, block.timestamp, block.timestamp
            )
        );
    }

    function test_aNewPolicyStartsUnspent() public {
        _settle(_sale(1));
        assertEq(lens().payerAccount(payer).spent, SALE, "spent");
        vm.prank(payer);
        settlement.setPolicy(_widePolicy());
        assertEq(lens().payerAccount(payer).spent, 0, "nothing is spent yet");
    }
}

// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Reason} from "../PaymentTypes.sol";
import {ISettlement} from "../artifacts/ISettlement.sol";
import {HostileToken} from "./HostileToken.sol";
import {SettlementFixture} from "./SettlementFixture.sol";

/// @title A merchant's wallet that agrees to everything, and withdraws for anyone.
contract OpenWallet {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return this.isValidSignature.selector;
    }

    function withdraw(ISettlement from, uint32 merchant, uint64 amount) external {
        from.withdrawOwn(merchant, amount);
    }
}

/// @title Pulls with bad tokens and with little gas.
contract PullsTest is SettlementFixture {
    HostileToken private hostile;
    uint32 private heldMerchant;

    /// @dev Replaces the contract with a second Settlement, whose token is the hostile one.
    function _useHostileToken() private {
        hostile = new HostileToken();
        settlement = _deploy(address(hostile));
        merchant = _register("acct_1", WALLET_KEY);
        vm.prank(payer);
        settlement.setPolicy(_widePolicy());
    }

    function test_onlyATransferThatReturnsTrueIsAPayment() public {
        _useHostileToken();
        HostileToken.Answer[7] memory refusals = [
            HostileToken.Answer.False,
            HostileToken.Answer.Nothing,
            HostileToken.Answer.Short,
            HostileToken.Answer.Two,
            HostileToken.Answer.InvalidOpcode,
            HostileToken.Answer.HugeRevert,
            HostileToken.Answer.RevertWithTrue
        ];
        for (uint64 i = 0; i < refusals.length; ++i) {
            hostile.set(refusals[i], 0, "");
            assertEq(_settleOne(_sale(i)), Reason.TRANSFER_REFUSED, "reason");
            assertTrue(!settlement.isSettled(i), "settled");
        }
        assertEq(_balanceOf(merchant), 0, "balance");
        hostile.set(HostileToken.Answer.True, 0, "");
        assertEq(_settleOne(_sale(0)), Reason.NONE, "true");
    }

    function test_anAddressWithoutCodePaysNothing() public {
        _useHostileToken();
        vm.etch(address(hostile), "");
        bytes memory call = abi.encodeCall(settlement.settleBatch, (_sale(1), _now()));
        vm.prank(OPERATOR);
        (bool succeeded,) = address(settlement).call(call);
        assertTrue(!succeeded, "reverted");
    }

    function test_noCallReentersDuringAPull() public {
        _useHostileToken();
        _allowEverything();
        bytes[] memory calls = _reentries();
        assertEq(_settleOne(_sale(1)), Reason.NONE, "something to take");
        for (uint64 i = 0; i < calls.length; ++i) {
            hostile.set(HostileToken.Answer.Reenter, 0, calls[i]);
            assertEq(_settleOne(_sale(2 + i)), Reason.NONE, "outer payment");
            assertTrue(!hostile.reentered(), "inner call");
        }
        assertEq(_balanceOf(merchant), (1 + calls.length) * uint256(SALE), "booked once each");
    }

    /// @dev Gives the hostile token all roles, and makes a wallet ready to be applied.
    function _allowEverything() private {
        bytes32[5] memory roles = [
            settlement.OPERATOR_ROLE(),
            settlement.TREASURER_ROLE(),
            settlement.GUARDIAN_ROLE(),
            settlement.REGISTRAR_ROLE(),
            settlement.STEWARD_ROLE()
        ];
        vm.prank(GUARDIAN);
        settlement.lowerCeiling(1_000);
        // The wallet is proposed for a second merchant, which does not withdraw below, because its
        // withdrawal would have to wait.
        otherMerchant = _register("acct_2", OTHER_WALLET_KEY);
        bytes memory signature = _signWalletConsent(WALLET_KEY, otherMerchant, block.timestamp);
        vm.prank(REGISTRAR);
        settlement.proposeWallet(otherMerchant, vm.addr(WALLET_KEY), block.timestamp, signature);
        for (uint256 i = 0; i < roles.length; ++i) {
            bytes memory data =
                abi.encodeCall(settlement.grantRole, (roles[i], address(hostile)));
            _schedule(address(settlement), data, "a");
        }
        _schedule(address(settlement), _rates(), "a");
        _schedule(address(settlement), _raise(), "a");
        vm.warp(block.timestamp + GOVERNANCE_DELAY);
        for (uint256 i = 0; i < roles.length; ++i) {
            bytes memory data =
                abi.encodeCall(settlement.grantRole, (roles[i], address(hostile)));
            _execute(address(settlement), data, "a");
        }
        heldMerchant = _register("acct_3", OTHER_WALLET_KEY);
    }

    function _rates() private view returns (bytes memory) {
        return abi.encodeCall(settlement.setRates, (ISettlement.Rates(1, 1, 1)));
    }

    /// @dev Raises the ceiling to the highest one. The setup below starts one below it.
    function _raise() private view returns (bytes memory) {
        return abi.encodeCall(settlement.raiseCeiling, (CEILING));
    }

    function _setup() internal view override returns (ISettlement.Setup memory setup) {
        setup = super._setup();
        setup.hourlyCeiling = CEILING - 1;
        setup.payoutHold = 1 hours;
    }

    function test_noOperationIsExecutedDuringAPull() public {
        _useHostileToken();
        _allowEverything();
        bytes[2] memory calls = [_rates(), _raise()];
        for (uint64 i = 0; i < calls.length; ++i) {
            bytes memory reentry = abi.encodeCall(
                timelock().execute, (address(settlement), 0, calls[i], bytes32(0), bytes32("a"))
            );
            hostile.aimAt(address(timelock()));
            hostile.set(HostileToken.Answer.Reenter, 0, reentry);
            assertEq(_settleOne(_sale(1 + i)), Reason.NONE, "outer payment");
            assertTrue(!hostile.reentered(), "inner call");
            _execute(address(settlement), calls[i], "a");
        }
    }

    /// @dev Calls that would all succeed from the hostile token if there were no reentrancy lock.
    function _reentries() private view returns (bytes[] memory calls) {
        bytes memory policySignature = _signPolicy(PAYER_KEY, _widePolicy(), block.timestamp);
        bytes memory revocation = _signRevocation(PAYER_KEY, block.timestamp);
        bytes memory consent = _signConsent(OTHER_WALLET_KEY, "x", block.timestamp);
        address wallet = vm.addr(OTHER_WALLET_KEY);
        ISettlement.Permit memory permit;
        calls = new bytes[](21);
        calls[0] = abi.encodeCall(settlement.settleBatch, (_sale(99), _now()));
        calls[1] = abi.encodeCall(settlement.withdraw, (merchant, vm.addr(WALLET_KEY), 1, 1));
        calls[2] = abi.encodeCall(settlement.collectFees, (STRANGER, 1, 1));
        calls[3] = abi.encodeCall(settlement.refund, (1, _sale(1), new bytes32[](0), 1, 0, 0));
        calls[4] = abi.encodeCall(settlement.pauseSettling, ());
        calls[5] = abi.encodeCall(settlement.pauseRefunding, ());
        calls[6] = abi.encodeCall(settlement.unpauseSettling, ());
        calls[7] = abi.encodeCall(settlement.applyWallet, (otherMerchant));
        calls[8] = abi.encodeCall(settlement.setPolicy, (_widePolicy()));
        calls[9] = abi.encodeCall(
            settlement.enrol, (payer, _widePolicy(), block.timestamp, policySignature, permit)
        );
        calls[10] = abi.encodeCall(
            settlement.revokePolicyBySignature, (payer, block.timestamp, revocation)
        );
        calls[11] =
            abi.encodeCall(settlement.registerMerchant, ("x", wallet, block.timestamp, consent));
        calls[12] = abi.encodeCall(settlement.lowerCeiling, (1));
        calls[13] = abi.encodeCall(settlement.unpauseRefunding, ());
        calls[14] = abi.encodeCall(settlement.sweep, (address(token), STRANGER));
        calls[15] = abi.encodeCall(settlement.settlePaymentSeparately, (_sale(99), _now()));
        calls[16] = abi.encodeCall(
            settlement.setPolicyBySignature,
            (payer, _widePolicy(), block.timestamp, policySignature)
        );
        calls[17] = abi.encodeCall(settlement.revokePolicy, ());
        calls[18] = abi.encodeCall(settlement.restoreCeiling, (1_500));
        calls[19] = abi.encodeCall(
            settlement.proposeWallet,
            (
                merchant,
                wallet,
                block.timestamp,
                _signWalletConsent(OTHER_WALLET_KEY, merchant, block.timestamp)
            )
        );
        calls[20] = abi.encodeCall(
            settlement.holdPayouts, (heldMerchant, uint32(block.timestamp + 2 hours))
        );
    }

    function test_noMerchantWithdrawsDuringAPull() public {
        _useHostileToken();
        OpenWallet wallet = new OpenWallet();
        vm.prank(REGISTRAR);
        otherMerchant = settlement.registerMerchant("x", address(wallet), block.timestamp, "");
        _settle(_packed(1, payer, otherMerchant, SALE));
        vm.warp(block.timestamp + 1 hours);
        hostile.aimAt(address(wallet));
        bytes memory reentry = abi.encodeCall(wallet.withdraw, (settlement, otherMerchant, 1));
        hostile.set(HostileToken.Answer.Reenter, 0, reentry);
        _settle(_packed(2, payer, otherMerchant, SALE));
        assertTrue(!hostile.reentered(), "inner call");
        wallet.withdraw(settlement, otherMerchant, 1);
        assertEq(_balanceOf(otherMerchant), 2 * uint256(SALE) - 1, "afterwards it works");
    }

    function test_theReenteringCallsWorkOutsideAPull() public {
        _useHostileToken();
        _allowEverything();
        _settle(_sale(1));
        bytes[] memory calls = _reentries();
        for (uint256 i = 0; i < calls.length; ++i) {
            uint256 snapshot = vm.snapshotState();
            vm.prank(address(hostile));
            (bool succeeded,) = address(settlement).call(calls[i]);
            assertTrue(succeeded, "call");
            vm.revertToState(snapshot);
        }
    }

    function test_aTokenThatBurnsGasFailsItsOwnPaymentOnly() public {
        _useHostileToken();
        hostile.set(HostileToken.Answer.True, 346_000, "");
        assertEq(_settleOne(_sale(1)), Reason.NONE, "within its gas");
        hostile.set(HostileToken.Answer.True, 360_000, "");
        assertEq(_settleOne(_sale(2)), Reason.TRANSFER_REFUSED, "above its gas");
    }

    function test_aCallWithTooLittleGasNamesTheGasNeeded() public {
        bytes memory call = abi.encodeCall(settlement.settleBatch, (_sale(1), _now()));
        vm.prank(OPERATOR);
        (bool succeeded, bytes memory answer) = address(settlement).call{gas: 360_000}(call);
        assertTrue(!succeeded, "reverted");
        assertEq(bytes32(bytes4(answer)), ISettlement.GasTooLow.selector, "error");
    }

    /// @dev The promise that a relayer relies on: at any gas limit, a batch of good payments
    /// settles whole or not at all, and never marks one of them failed.
    function test_noGasLimitFailsAValidPayment() public {
        bytes memory payments = bytes.concat(_sale(1), _sale(2), _sale(3), _sale(300));
        bytes memory call = abi.encodeCall(settlement.settleBatch, (payments, _now()));
        uint256 settledWhole;
        for (uint256 gasLimit = 20_000; gasLimit < 720_000; gasLimit += 977) {
            uint256 snapshot = vm.snapshotState();
            vm.prank(OPERATOR);
            (bool succeeded, bytes memory answer) = address(settlement).call{gas: gasLimit}(call);
            if (succeeded) {
                assertEq(abi.decode(answer, (bytes)).length, 0, "a payment failed");
                assertEq(_balanceOf(merchant), 4 * uint256(SALE), "all settled");
                ++settledWhole;
            } else {
                assertEq(token.balanceOf(address(settlement)), 0, "nothing moved");
            }
            vm.revertToState(snapshot);
        }
        assertTrue(settledWhole > 50 && settledWhole < 650, "the sweep crosses the limit");
    }

    /// @dev A batch of one payment leaves the most gas to report a failure, so it is the most
    /// sensitive to the gas limit of calls (EIP-150).
    function test_noGasLimitFailsAValidPaymentOfATokenThatUsesAllItsGas() public {
        _useHostileToken();
        hostile.set(HostileToken.Answer.True, 346_000, "");
        bytes memory call = abi.encodeCall(settlement.settleBatch, (_sale(1), _now()));
        uint256 settledWhole;
        for (uint256 gasLimit = 340_000; gasLimit < 480_000; gasLimit += 97) {
            uint256 snapshot = vm.snapshotState();
            vm.prank(OPERATOR);
            (bool succeeded, bytes memory answer) = address(settlement).call{gas: gasLimit}(call);
            if (succeeded) {
                assertEq(abi.decode(answer, (bytes)).length, 0, "a payment failed");
                ++settledWhole;
            }
            vm.revertToState(snapshot);
        }
        assertTrue(settledWhole > 100 && settledWhole < 1_400, "the sweep crosses the limit");
    }
}

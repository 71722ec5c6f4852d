// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISettlement} from "../artifacts/ISettlement.sol";
import {ISettlementLens} from "../artifacts/ISettlementLens.sol";
import {SettlementFixture} from "./SettlementFixture.sol";

contract MerchantsTest is SettlementFixture {
    uint256 private constant NEW_KEY = 0x4e4577;

    function _propose(address by) private {
        _proposeFor(merchant, by);
    }

    function _wallet(uint32 merchant_) private view returns (address wallet) {
        (wallet,,) = settlement.merchantAccount(merchant_);
    }

    function _withdraw(uint64 amount, uint64 number) private {
        vm.prank(OPERATOR);
        settlement.withdraw(merchant, vm.addr(WALLET_KEY), amount, number);
    }

    function test_merchantsAreNumberedFromOneAndFoundByReference() public {
        assertEq(merchant, 1, "first");
        assertEq(otherMerchant, 2, "second");
        assertEq(settlement.merchantCount(), 2, "count");
        assertEq(settlement.merchantOf(keccak256("acct_2")), 2, "by reference");
        assertEq(settlement.merchantOf(keccak256("acct_3")), 0, "unknown");
        assertEq(_wallet(1), vm.addr(WALLET_KEY), "wallet");
        bytes memory signature = _signConsent(NEW_KEY, "x", block.timestamp);
        vm.expectEmit();
        emit ISettlement.MerchantRegistered(3, "x", vm.addr(NEW_KEY));
        vm.prank(REGISTRAR);
        settlement.registerMerchant("x", vm.addr(NEW_KEY), block.timestamp, signature);
    }

    function test_aReferenceRegistersOnce() public {
        bytes32 merchantReference = keccak256("acct_1");
        bytes memory signature = _signConsent(NEW_KEY, merchantReference, block.timestamp);
        vm.expectRevert(
            abi.encodeWithSelector(
                ISettlement.MerchantAlreadyRegistered.selector, merchantReference, 1
            )
        );
        vm.prank(REGISTRAR);
        settlement.registerMerchant(merchantReference, vm.addr(NEW_KEY), block.timestamp, signature);
    }

    function test_registrationNeedsTheWalletsConsent() public {
        address wallet = vm.addr(NEW_KEY);
        bytes memory foreign = _signConsent(WALLET_KEY, "x", block.timestamp);
        expectError(ISettlement.SignatureInvalid.selector, wallet);
        vm.prank(REGISTRAR);
        settlement.registerMerchant("x", wallet, block.timestamp, foreign);
        bytes memory late = _signConsent(NEW_KEY, "x", block.timestamp - 1);
        expectError(ISettlement.SignatureExpired.selector, block.timestamp - 1, block.timestamp);
        vm.prank(REGISTRAR);
        settlement.registerMerchant("x", wallet, block.timestamp - 1, late);
    }

    function test_onlyTheRegistrarRegistersAndOnlyPayableWallets() public {
        bytes memory signature = _signConsent(NEW_KEY, "x", block.timestamp);
        _expectRole(OPERATOR, settlement.REGISTRAR_ROLE());
        vm.prank(OPERATOR);
        settlement.registerMerchant("x", vm.addr(NEW_KEY), block.timestamp, signature);
        address[3] memory unpayable = [address(0), address(settlement), address(token)];
        for (uint256 i = 0; i < unpayable.length; ++i) {
            expectError(ISettlement.AddressInvalid.selector, unpayable[i]);
            vm.prank(REGISTRAR);
            settlement.registerMerchant("x", unpayable[i], block.timestamp, signature);
        }
    }

    function test_aNewWalletWaitsForItsDelay() public {
        _settle(_sale(1));
        vm.expectEmit();
        emit ISettlement.WalletProposed(
            merchant, vm.addr(NEW_KEY), uint48(block.timestamp) + WALLET_DELAY, vm.addr(WALLET_KEY)
        );
        _propose(vm.addr(WALLET_KEY));
        uint256 from = block.timestamp + WALLET_DELAY;
        vm.warp(from - 1);
        expectError(ISettlement.TooEarly.selector, from - 1, from);
        settlement.applyWallet(merchant);
        vm.prank(vm.addr(WALLET_KEY));
        settlement.withdrawOwn(merchant, 1);
        vm.warp(from);
        vm.expectEmit();
        emit ISettlement.WalletChanged(merchant, vm.addr(WALLET_KEY), vm.addr(NEW_KEY));
        settlement.applyWallet(merchant);
        assertEq(_wallet(merchant), vm.addr(NEW_KEY), "wallet");
        assertEq(_balanceOf(merchant), SALE - 1, "balance stays");
        expectError(ISettlement.NoWalletProposed.selector, merchant);
        settlement.applyWallet(merchant);
    }

    function test_walletChangesComeFromTheWalletOrTheRegistrarOnly() public {
        _propose(REGISTRAR);
        (address proposed, uint48 applicableAt, address by) = settlement.walletChange(merchant);
        assertEq(proposed, vm.addr(NEW_KEY), "proposed");
        assertEq(applicableAt, block.timestamp + WALLET_DELAY, "applicable at");
        assertEq(by, REGISTRAR, "by");
        address[4] memory others = [OPERATOR, GUARDIAN, ADMIN, vm.addr(OTHER_WALLET_KEY)];
        for (uint256 i = 0; i < others.length; ++i) {
            uint256 deadline = block.timestamp;
            bytes memory signature = _signWalletConsent(NEW_KEY, merchant, deadline);
            expectError(ISettlement.MayNotChangeWallet.selector, others[i], merchant);
            vm.prank(others[i]);
            settlement.proposeWallet(merchant, vm.addr(NEW_KEY), deadline, signature);
        }
    }

    function test_aNewWalletMustConsentEachTime() public {
        uint256 deadline = block.timestamp;
        address wallet = vm.addr(NEW_KEY);
        bytes memory signature = _signWalletConsent(NEW_KEY, merchant, deadline);
        vm.prank(REGISTRAR);
        settlement.proposeWallet(merchant, wallet, deadline, signature);
        vm.prank(GUARDIAN);
        settlement.cancelWallet(merchant);
        expectError(ISettlement.SignatureInvalid.selector, wallet);
        vm.prank(REGISTRAR);
        settlement.proposeWallet(merchant, wallet, deadline, signature);
        expectError(ISettlement.AddressInvalid.selector, address(token));
        vm.prank(REGISTRAR);
        settlement.proposeWallet(merchant, address(token), deadline, signature);
        expectError(ISettlement.MerchantNotRegistered.selector, 99);
        vm.prank(REGISTRAR);
        settlement.proposeWallet(99, wallet, deadline, signature);
    }

    function test_aProposalCanBeStopped() public {
        address[3] memory stoppers = [vm.addr(WALLET_KEY), REGISTRAR, GUARDIAN];
        for (uint256 i = 0; i < stoppers.length; ++i) {
            _propose(REGISTRAR);
            vm.expectEmit();
            emit ISettlement.WalletProposalCanceled(merchant, vm.addr(NEW_KEY), stoppers[i]);
            vm.prank(stoppers[i]);
            settlement.cancelWallet(merchant);
            vm.warp(block.timestamp + WALLET_DELAY);
            expectError(ISettlement.NoWalletProposed.selector, merchant);
            settlement.applyWallet(merchant);
        }
        expectError(ISettlement.NoWalletProposed.selector, merchant);
        vm.prank(GUARDIAN);
        settlement.cancelWallet(merchant);
        _propose(REGISTRAR);
        expectError(ISettlement.MayNotChangeWallet.selector, STRANGER, merchant);
        vm.prank(STRANGER);
        settlement.cancelWallet(merchant);
    }

    function test_aWatcherCancelsWhatTheRegistrarProposedAndNothingElse() public {
        _propose(REGISTRAR);
        _proposeFor(otherMerchant, vm.addr(OTHER_WALLET_KEY));
        vm.expectEmit();
        emit ISettlement.WalletProposalCanceled(merchant, vm.addr(NEW_KEY), WATCHER);
        vm.prank(WATCHER);
        settlement.cancelWallet(merchant);
        _requireNoChange(merchant);
        // The watcher may cancel neither a proposal that no longer exists, nor a merchant's own.
        uint32[2] memory none = [merchant, otherMerchant];
        for (uint256 i = 0; i < none.length; ++i) {
            expectError(ISettlement.MayNotChangeWallet.selector, WATCHER, none[i]);
            vm.prank(WATCHER);
            settlement.cancelWallet(none[i]);
        }
        bytes32 role = settlement.WATCH_ROLE();
        vm.prank(STEWARD);
        settlement.revokeRole(role, WATCHER);
        _propose(REGISTRAR);
        expectError(ISettlement.MayNotChangeWallet.selector, WATCHER, merchant);
        vm.prank(WATCHER);
        settlement.cancelWallet(merchant);
    }

    function test_aProposalIsNotOverwritten() public {
        _propose(REGISTRAR);
        uint256 deadline = block.timestamp;
        bytes memory signature = _signWalletConsent(NEW_KEY, merchant, deadline);
        expectError(ISettlement.WalletAlreadyProposed.selector, merchant, vm.addr(NEW_KEY));
        vm.prank(REGISTRAR);
        settlement.proposeWallet(merchant, vm.addr(NEW_KEY), deadline, signature);
    }

    /// @dev A stolen key of the wallet keeps its merchant number: the way out is a new registration.
    function test_theWalletCancelsAnyProposalAsOftenAsItLikes() public {
        address wallet = vm.addr(WALLET_KEY);
        for (uint256 i = 0; i < 5; ++i) {
            _propose(i % 2 == 0 ? wallet : REGISTRAR);
            vm.prank(wallet);
            settlement.cancelWallet(merchant);
        }
        _requireNoChange(merchant);
        bytes32 another = keccak256("acct_1 again");
        bytes memory signature = _signConsent(NEW_KEY, another, block.timestamp);
        vm.prank(REGISTRAR);
        settlement.registerMerchant(another, vm.addr(NEW_KEY), block.timestamp, signature);
    }

    function test_aWatcherOrGuardianDropsAllThatARegistrarProposedInOneCall() public {
        address[2] memory droppers = [WATCHER, GUARDIAN];
        for (uint256 i = 0; i < droppers.length; ++i) {
            _propose(vm.addr(WALLET_KEY));
            _proposeFor(otherMerchant, REGISTRAR);
            vm.expectEmit();
            emit ISettlement.WalletProposalsDropped(REGISTRAR, droppers[i]);
            vm.prank(droppers[i]);
            settlement.dropWalletChangesOf(REGISTRAR);
            _requireNoChange(otherMerchant);
            (address own,,) = settlement.walletChange(merchant);
            assertEq(own, vm.addr(NEW_KEY), "the merchant's own stays");
            vm.prank(vm.addr(WALLET_KEY));
            settlement.cancelWallet(merchant);
        }
    }

    function test_droppingProposalsKeepsThoseOfTheMerchantsOwnWallet() public {
        address wallet = vm.addr(WALLET_KEY);
        _propose(wallet);
        bytes32 registrar = settlement.REGISTRAR_ROLE();
        address[2] memory droppers = [WATCHER, GUARDIAN];
        for (uint256 i = 0; i < droppers.length; ++i) {
            _expectRole(wallet, registrar);
            vm.prank(droppers[i]);
            settlement.dropWalletChangesOf(wallet);
            _expectRole(address(0), registrar);
            vm.prank(droppers[i]);
            settlement.dropWalletChangesOf(address(0));
        }
        address[4] memory others = [REGISTRAR, OPERATOR, STEWARD, STRANGER];
        bytes32 guardian = settlement.GUARDIAN_ROLE();
        for (uint256 i = 0; i < others.length; ++i) {
            _expectRole(others[i], guardian);
            vm.prank(others[i]);
            settlement.dropWalletChangesOf(REGISTRAR);
        }
    }

    /// @dev Within one second, a proposal before the drop ends, and one after it is valid.
    function test_aProposalAfterADropInTheSameSecondIsValid() public {
        _proposeFor(otherMerchant, REGISTRAR);
        vm.prank(GUARDIAN);
        settlement.dropWalletChanges();
        _propose(REGISTRAR);
        vm.prank(WATCHER);
        settlement.dropWalletChangesOf(REGISTRAR);
        _requireNoChange(merchant);
        _propose(REGISTRAR);
        _requireNoChange(otherMerchant);
        vm.warp(block.timestamp + WALLET_DELAY);
        settlement.applyWallet(merchant);
        assertEq(_wallet(merchant), vm.addr(NEW_KEY), "wallet");
    }

    function test_aProposalLapsesSevenDaysAfterItCouldBeApplied() public {
        _propose(REGISTRAR);
        uint256 until = block.timestamp + WALLET_DELAY + 7 days;
        vm.warp(until + 1);
        expectError(ISettlement.NoWalletProposed.selector, merchant);
        settlement.applyWallet(merchant);
        expectError(ISettlement.NoWalletProposed.selector, merchant);
        vm.prank(GUARDIAN);
        settlement.cancelWallet(merchant);
        _requireNoChange(merchant);
        // A new proposal replaces the previous one, and can be applied in its last second.
        _propose(REGISTRAR);
        vm.warp(block.timestamp + WALLET_DELAY + 7 days);
        settlement.applyWallet(merchant);
        assertEq(_wallet(merchant), vm.addr(NEW_KEY), "wallet");
    }

    function test_theGuardianDropsAllProposalsMadeBeforeNow() public {
        _propose(vm.addr(WALLET_KEY));
        _proposeFor(otherMerchant, REGISTRAR);
        _expectRole(REGISTRAR, settlement.GUARDIAN_ROLE());
        vm.prank(REGISTRAR);
        settlement.dropWalletChanges();
        ISettlementLens.AnnouncedWallet[] memory all = lens().walletChanges(1, 9);
        assertEq(all.length, 2, "both are announced");
        assertEq(all[1].merchant, otherMerchant, "merchant");
        assertEq(all[1].from, vm.addr(OTHER_WALLET_KEY), "from");
        assertEq(all[1].to, vm.addr(NEW_KEY), "to");
        assertEq(all[1].applicableAt, block.timestamp + WALLET_DELAY, "applicable at");
        assertEq(all[1].proposer, REGISTRAR, "by");
        assertEq(lens().walletChanges(2, 2).length, 1, "one of them");
        vm.expectEmit();
        emit ISettlement.WalletProposalsDropped(address(0), GUARDIAN);
        vm.prank(GUARDIAN);
        settlement.dropWalletChanges();
        assertEq(lens().walletChanges(1, 2).length, 0, "none");
        uint32 last = type(uint32).max;
        assertEq(lens().walletChanges(last, last).length, 0, "room for one, however high");
        _requireNoChange(merchant);
        _requireNoChange(otherMerchant);
        _propose(REGISTRAR);
        vm.warp(block.timestamp + WALLET_DELAY);
        expectError(ISettlement.NoWalletProposed.selector, otherMerchant);
        settlement.applyWallet(otherMerchant);
        settlement.applyWallet(merchant);
        assertEq(_wallet(merchant), vm.addr(NEW_KEY), "what came later applies");
    }

    function test_revokingARegistrarDropsItsProposalsAndNoOthers() public {
        _propose(vm.addr(WALLET_KEY));
        _proposeFor(otherMerchant, REGISTRAR);
        bytes32 role = settlement.REGISTRAR_ROLE();
        vm.expectEmit();
        emit ISettlement.WalletProposalsDropped(REGISTRAR, STEWARD);
        vm.prank(STEWARD);
        settlement.revokeRole(role, REGISTRAR);
        _requireNoChange(otherMerchant);
        // Granting the role again does not restore its proposals.
        _grant(role, REGISTRAR);
        _requireNoChange(otherMerchant);
        expectError(ISettlement.NoWalletProposed.selector, otherMerchant);
        settlement.applyWallet(otherMerchant);
        settlement.applyWallet(merchant);
        assertEq(_wallet(merchant), vm.addr(NEW_KEY), "the merchant's own");
    }

    function test_losingAnotherRoleDropsNoProposal() public {
        bytes32[2] memory roles = [settlement.OPERATOR_ROLE(), settlement.REGISTRAR_ROLE()];
        _grant(roles[0], REGISTRAR);
        _proposeFor(otherMerchant, REGISTRAR);
        // The proposer itself loses a role that it did not propose with.
        vm.prank(STEWARD);
        settlement.revokeRole(roles[0], REGISTRAR);
        // Nor does revoking the role from an account that never was a registrar end a proposal.
        vm.prank(STEWARD);
        settlement.revokeRole(roles[1], STRANGER);
        (address proposed,,) = settlement.walletChange(otherMerchant);
        assertEq(proposed, vm.addr(NEW_KEY), "proposed");
    }

    function test_operatorsPayNothingOutWhileAWalletChangeIsPending() public {
        _settle(_sale(1));
        _propose(REGISTRAR);
        address wallet = vm.addr(WALLET_KEY);
        expectError(ISettlement.WalletChangePending.selector, merchant, vm.addr(NEW_KEY));
        _withdraw(1, 1);
        // The wallet's own withdrawal never waits for the change.
        vm.prank(wallet);
        settlement.withdrawOwn(merchant, 1);
        vm.prank(wallet);
        settlement.cancelWallet(merchant);
        _withdraw(1, 1);
        _propose(REGISTRAR);
        vm.warp(block.timestamp + WALLET_DELAY);
        settlement.applyWallet(merchant);
        vm.prank(OPERATOR);
        settlement.withdraw(merchant, vm.addr(NEW_KEY), 1, 2);
        assertEq(token.balanceOf(vm.addr(NEW_KEY)), 1, "paid to the new one");
    }

    function _proposeFor(uint32 merchant_, address by) private {
        uint256 deadline = block.timestamp;
        bytes memory signature = _signWalletConsent(NEW_KEY, merchant_, deadline);
        vm.prank(by);
        settlement.proposeWallet(merchant_, vm.addr(NEW_KEY), deadline, signature);
    }

    function _requireNoChange(uint32 merchant_) private view {
        (address to, uint48 since, address by) = settlement.walletChange(merchant_);
        assertEq(uint256(uint160(to)) + since + uint160(by), 0, "none is announced");
    }

    function test_operatorsPayOutToTheRegisteredWalletOncePerNumber() public {
        _settle(_sale(1));
        vm.expectEmit();
        emit ISettlement.Withdrawn(merchant, vm.addr(WALLET_KEY), 300, 1_000_000);
        _withdraw(1_000_000, 300);
        assertEq(token.balanceOf(vm.addr(WALLET_KEY)), 1_000_000, "wallet");
        assertEq(_balanceOf(merchant), SALE - 1_000_000, "balance");
        assertTrue(settlement.isWithdrawalPaid(300), "paid");
        assertTrue(!settlement.isWithdrawalPaid(301), "another");
        expectError(ISettlement.WithdrawalAlreadyPaid.selector, 300);
        _withdraw(1_000_000, 300);
        vm.prank(OTHER_OPERATOR);
        settlement.withdraw(merchant, vm.addr(WALLET_KEY), 1_000_000, 301);
    }

    function test_aWithdrawalForAnotherWalletThanTheRegisteredOneIsRefused() public {
        _settle(_sale(1));
        address[3] memory others = [address(0), OPERATOR, vm.addr(OTHER_WALLET_KEY)];
        for (uint256 i = 0; i < others.length; ++i) {
            expectError(ISettlement.NotMerchantWallet.selector, others[i], vm.addr(WALLET_KEY));
            vm.prank(OPERATOR);
            settlement.withdraw(merchant, others[i], 1, 5);
        }
        assertTrue(!settlement.isWithdrawalPaid(5), "the number stays unused");
        assertEq(_balanceOf(merchant), SALE, "balance");
    }

    function testFuzz_aWithdrawalNumberPaysOnceWhateverItIs(uint64 number, uint8 bit) public {
        _settle(_sale(1));
        number = uint64(bound(number, 1, type(uint64).max));
        _withdrawOnce(number);
        // Flips one bit: a number that differs by 256 or 65,536 is a different number, too.
        uint64 other = number ^ (uint64(1) << (bit % 64));
        if (other == 0) return;
        assertTrue(!settlement.isWithdrawalPaid(other), "another number");
        _withdrawOnce(other);
    }

    function test_theHighestWithdrawalNumbersPayOnce() public {
        _settle(_sale(1));
        uint64[6] memory numbers = [1, 255, 256, 65_536, type(uint64).max - 1, type(uint64).max];
        for (uint256 i = 0; i < numbers.length; ++i) {
            _withdrawOnce(numbers[i]);
        }
        for (uint256 i = 0; i < numbers.length; ++i) {
            _expectAlreadyPaid(numbers[i]);
        }
    }

    function _withdrawOnce(uint64 number) private {
        _withdraw(1, number);
        assertTrue(settlement.isWithdrawalPaid(number), "paid");
        _expectAlreadyPaid(number);
    }

    function _expectAlreadyPaid(uint64 number) private {
        expectError(ISettlement.WithdrawalAlreadyPaid.selector, number);
        _withdraw(1, number);
    }

    function test_withdrawalsStayWithinTheBalance() public {
        _settle(_sale(1));
        expectError(ISettlement.InsufficientMerchantBalance.selector, uint256(SALE) + 1, SALE);
        _withdraw(SALE + 1, 1);
        assertTrue(!settlement.isWithdrawalPaid(1), "the number stays unused");
        expectError(ISettlement.InsufficientMerchantBalance.selector, 1, 0);
        vm.prank(OPERATOR);
        settlement.withdraw(otherMerchant, vm.addr(OTHER_WALLET_KEY), 1, 1);
        _withdraw(SALE, 1);
        assertEq(_balanceOf(merchant), 0, "balance");
    }

    function test_malformedWithdrawalsAreRefused() public {
        _settle(_sale(1));
        vm.expectRevert(ISettlement.NumberZero.selector);
        _withdraw(1, 0);
        vm.expectRevert(ISettlement.AmountZero.selector);
        _withdraw(0, 1);
        expectError(ISettlement.MerchantNotRegistered.selector, 99);
        vm.prank(OPERATOR);
        settlement.withdraw(99, vm.addr(WALLET_KEY), 1, 1);
        _expectRole(STRANGER, settlement.OPERATOR_ROLE());
        vm.prank(STRANGER);
        settlement.withdraw(merchant, vm.addr(WALLET_KEY), 1, 1);
    }

    function test_aWalletWithdrawsDuringEveryPause() public {
        _settle(_sale(1));
        vm.prank(GUARDIAN);
        settlement.pauseSettling();
        vm.prank(GUARDIAN);
        settlement.pauseRefunding();
        address wallet = vm.addr(WALLET_KEY);
        vm.expectEmit();
        emit ISettlement.Withdrawn(merchant, wallet, 0, SALE);
        vm.prank(wallet);
        settlement.withdrawOwn(merchant, SALE);
        assertEq(token.balanceOf(wallet), SALE, "wallet");
        expectError(ISettlement.InsufficientMerchantBalance.selector, 1, 0);
        vm.prank(wallet);
        settlement.withdrawOwn(merchant, 1);
    }

    function test_noOtherCallerWithdrawsForAWallet() public {
        _settle(_sale(1));
        address wallet = vm.addr(WALLET_KEY);
        address[4] memory others = [OPERATOR, ADMIN, TREASURER, vm.addr(OTHER_WALLET_KEY)];
        for (uint256 i = 0; i < others.length; ++i) {
            expectError(ISettlement.NotMerchantWallet.selector, others[i], wallet);
            vm.prank(others[i]);
            settlement.withdrawOwn(merchant, 1);
        }
    }

    function test_holdingsSeparateDebtsFromStrayTransfers() public {
        uint40 sale = 2_000_000;
        _settleOne(_packed(1, payer, merchant, sale));
        _settleOne(_packed(2, payer, otherMerchant, 3 * sale));
        (uint256 held, uint256 owed, uint256 fees) = lens().holdings(1, 2);
        assertEq(owed, 4 * uint256(sale), "of both");
        assertTrue(fees > 0, "fees");
        assertEq(held, owed + fees, "no more and no less");
        token.mint(address(settlement), 7);
        (held, owed, fees) = lens().holdings(otherMerchant, otherMerchant);
        assertEq(owed, 3 * uint256(sale), "of one");
        assertEq(held, 4 * uint256(sale) + fees + 7, "all that is held");
        (, owed,) = lens().holdings(3, 2);
        assertEq(owed, 0, "of no merchant");
    }
}

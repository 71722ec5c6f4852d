// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISettlement} from "../artifacts/ISettlement.sol";
import {SettlementFixture} from "./SettlementFixture.sol";

contract MerchantsTest is SettlementFixture {
    uint256 private constant NEW_KEY = 0x4e4577;

    function _expectRole(address account, bytes32 role) private {
        vm.expectRevert(
            abi.encodeWithSelector(
                ISettlement.AccessControlUnauthorizedAccount.selector, account, role
            )
        );
    }

    function _propose(address by) private {
        uint256 deadline = block.timestamp;
        bytes memory signature = _signWalletConsent(NEW_KEY, merchant, deadline);
        vm.prank(by);
        settlement.proposeWallet(merchant, vm.addr(NEW_KEY), deadline, signature);
    }

    function _wallet(uint32 merchant_) private view returns (address wallet) {
        (wallet,,) = settlement.merchantAccount(merchant_);
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
        vm.expectRevert(abi.encodeWithSelector(ISettlement.SignatureInvalid.selector, wallet));
        vm.prank(REGISTRAR);
        settlement.registerMerchant("x", wallet, block.timestamp, foreign);
        bytes memory late = _signConsent(NEW_KEY, "x", block.timestamp - 1);
        vm.expectRevert(
            abi.encodeWithSelector(
                ISettlement.SignatureExpired.selector, block.timestamp - 1, block.timestamp
            )
        );
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
            vm.expectRevert(
                abi.encodeWithSelector(ISettlement.AddressInvalid.selector, unpayable[i])
            );
            vm.prank(REGISTRAR);
            settlement.registerMerchant("x", unpayable[i], block.timestamp, signature);
        }
    }

    function test_aNewWalletWaitsForItsDelay() public {
        _settle(_sale(1));
        vm.expectEmit();
        emit ISettlement.WalletProposed(
            merchant, vm.addr(NEW_KEY), uint48(block.timestamp) + WALLET_DELAY
        );
        _propose(vm.addr(WALLET_KEY));
        uint256 from = block.timestamp + WALLET_DELAY;
        vm.warp(from - 1);
        vm.expectRevert(abi.encodeWithSelector(ISettlement.TooEarly.selector, from - 1, from));
        settlement.applyWallet(merchant);
        vm.prank(vm.addr(WALLET_KEY));
        settlement.withdrawOwn(merchant, 1);
        vm.warp(from);
        vm.expectEmit();
        emit ISettlement.WalletChanged(merchant, vm.addr(WALLET_KEY), vm.addr(NEW_KEY));
        settlement.applyWallet(merchant);
        assertEq(_wallet(merchant), vm.addr(NEW_KEY), "wallet");
        assertEq(_balanceOf(merchant), SALE - 1, "balance stays");
        vm.expectRevert(abi.encodeWithSelector(ISettlement.NoWalletProposed.selector, merchant));
        settlement.applyWallet(merchant);
    }

    function test_walletChangesComeFromTheWalletOrTheRegistrarOnly() public {
        _propose(REGISTRAR);
        (address proposed,) = settlement.walletChange(merchant);
        assertEq(proposed, vm.addr(NEW_KEY), "proposed");
        address[4] memory others = [OPERATOR, GUARDIAN, ADMIN, vm.addr(OTHER_WALLET_KEY)];
        for (uint256 i = 0; i < others.length; ++i) {
            uint256 deadline = block.timestamp;
            bytes memory signature = _signWalletConsent(NEW_KEY, merchant, deadline);
            vm.expectRevert(
                abi.encodeWithSelector(ISettlement.MayNotChangeWallet.selector, others[i], merchant)
            );
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
        vm.expectRevert(abi.encodeWithSelector(ISettlement.SignatureInvalid.selector, wallet));
        vm.prank(REGISTRAR);
        settlement.proposeWallet(merchant, wallet, deadline, signature);
        vm.expectRevert(abi.encodeWithSelector(ISettlement.AddressInvalid.selector, token));
        vm.prank(REGISTRAR);
        settlement.proposeWallet(merchant, address(token), deadline, signature);
        vm.expectRevert(abi.encodeWithSelector(ISettlement.MerchantNotRegistered.selector, 99));
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
            vm.expectRevert(abi.encodeWithSelector(ISettlement.NoWalletProposed.selector, merchant));
            settlement.applyWallet(merchant);
        }
        vm.expectRevert(abi.encodeWithSelector(ISettlement.NoWalletProposed.selector, merchant));
        vm.prank(GUARDIAN);
        settlement.cancelWallet(merchant);
        _propose(REGISTRAR);
        vm.expectRevert(
            abi.encodeWithSelector(ISettlement.MayNotChangeWallet.selector, STRANGER, merchant)
        );
        vm.prank(STRANGER);
        settlement.cancelWallet(merchant);
    }

    function test_aProposalIsNotOverwritten() public {
        _propose(REGISTRAR);
        uint256 deadline = block.timestamp;
        bytes memory signature = _signWalletConsent(NEW_KEY, merchant, deadline);
        vm.expectRevert(
            abi.encodeWithSelector(
                ISettlement.WalletAlreadyProposed.selector, merchant, vm.addr(NEW_KEY)
            )
        );
        vm.prank(REGISTRAR);
        settlement.proposeWallet(merchant, vm.addr(NEW_KEY), deadline, signature);
    }

    function test_theWalletCancelsAtMostTwiceInThirtyDays() public {
        address wallet = vm.addr(WALLET_KEY);
        uint256 start = block.timestamp;
        for (uint256 i = 0; i < 2; ++i) {
            _propose(REGISTRAR);
            vm.prank(wallet);
            settlement.cancelWallet(merchant);
            vm.warp(start + 10 days);
        }
        _propose(REGISTRAR);
        vm.warp(start + 30 days - 1);
        vm.expectRevert(
            abi.encodeWithSelector(
                ISettlement.TooManyCancellations.selector, block.timestamp, start + 30 days
            )
        );
        vm.prank(wallet);
        settlement.cancelWallet(merchant);
        vm.warp(start + 30 days);
        vm.prank(wallet);
        settlement.cancelWallet(merchant);
        _propose(REGISTRAR);
        vm.expectRevert(
            abi.encodeWithSelector(
                ISettlement.TooManyCancellations.selector, block.timestamp, start + 40 days
            )
        );
        vm.prank(wallet);
        settlement.cancelWallet(merchant);
        // Registrar and guardian are not counted.
        vm.prank(GUARDIAN);
        settlement.cancelWallet(merchant);
        _propose(REGISTRAR);
        vm.prank(REGISTRAR);
        settlement.cancelWallet(merchant);
    }

    function test_operatorsPayOutToTheRegisteredWalletOncePerNumber() public {
        _settle(_sale(1));
        vm.expectEmit();
        emit ISettlement.Withdrawn(merchant, vm.addr(WALLET_KEY), 300, 1_000_000);
        vm.prank(OPERATOR);
        settlement.withdraw(merchant, vm.addr(WALLET_KEY), 1_000_000, 300);
        assertEq(token.balanceOf(vm.addr(WALLET_KEY)), 1_000_000, "wallet");
        assertEq(_balanceOf(merchant), SALE - 1_000_000, "balance");
        assertTrue(settlement.isWithdrawalPaid(300), "paid");
        assertTrue(!settlement.isWithdrawalPaid(301), "another");
        vm.expectRevert(abi.encodeWithSelector(ISettlement.WithdrawalAlreadyPaid.selector, 300));
        vm.prank(OPERATOR);
        settlement.withdraw(merchant, vm.addr(WALLET_KEY), 1_000_000, 300);
        vm.prank(OTHER_OPERATOR);
        settlement.withdraw(merchant, vm.addr(WALLET_KEY), 1_000_000, 301);
    }

    function test_aWithdrawalForAnotherWalletThanTheRegisteredOneIsRefused() public {
        _settle(_sale(1));
        address[3] memory others = [address(0), OPERATOR, vm.addr(OTHER_WALLET_KEY)];
        for (uint256 i = 0; i < others.length; ++i) {
            vm.expectRevert(
                abi.encodeWithSelector(
                    ISettlement.NotMerchantWallet.selector, others[i], vm.addr(WALLET_KEY)
                )
            );
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
        // Another one in each bit position: 256 or 65,536 away is another number.
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
        vm.prank(OPERATOR);
        settlement.withdraw(merchant, vm.addr(WALLET_KEY), 1, number);
        assertTrue(settlement.isWithdrawalPaid(number), "paid");
        _expectAlreadyPaid(number);
    }

    function _expectAlreadyPaid(uint64 number) private {
        vm.expectRevert(
            abi.encodeWithSelector(ISettlement.WithdrawalAlreadyPaid.selector, number)
        );
        vm.prank(OPERATOR);
        settlement.withdraw(merchant, vm.addr(WALLET_KEY), 1, number);
    }

    function test_withdrawalsStayWithinTheBalance() public {
        _settle(_sale(1));
        vm.expectRevert(
            abi.encodeWithSelector(
                ISettlement.InsufficientMerchantBalance.selector, uint256(SALE) + 1, SALE
            )
        );
        vm.prank(OPERATOR);
        settlement.withdraw(merchant, vm.addr(WALLET_KEY), SALE + 1, 1);
        assertTrue(!settlement.isWithdrawalPaid(1), "the number stays unused");
        vm.expectRevert(
            abi.encodeWithSelector(ISettlement.InsufficientMerchantBalance.selector, 1, 0)
        );
        vm.prank(OPERATOR);
        settlement.withdraw(otherMerchant, vm.addr(OTHER_WALLET_KEY), 1, 1);
        vm.prank(OPERATOR);
        settlement.withdraw(merchant, vm.addr(WALLET_KEY), SALE, 1);
        assertEq(_balanceOf(merchant), 0, "balance");
    }

    function test_malformedWithdrawalsAreRefused() public {
        _settle(_sale(1));
        vm.expectRevert(ISettlement.NumberZero.selector);
        vm.prank(OPERATOR);
        settlement.withdraw(merchant, vm.addr(WALLET_KEY), 1, 0);
        vm.expectRevert(ISettlement.AmountZero.selector);
        vm.prank(OPERATOR);
        settlement.withdraw(merchant, vm.addr(WALLET_KEY), 0, 1);
        vm.expectRevert(abi.encodeWithSelector(ISettlement.MerchantNotRegistered.selector, 99));
        vm.prank(OPERATOR);
        settlement.withdraw(99, vm.addr(WALLET_KEY), 1, 1);
        _expectRole(STRANGER, settlement.OPERATOR_ROLE());
        vm.prank(STRANGER);
        settlement.withdraw(merchant, vm.addr(WALLET_KEY), 1, 1);
    }

    function test_noPauseHoldsAWalletsOwnWithdrawal() public {
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
        vm.expectRevert(
            abi.encodeWithSelector(ISettlement.InsufficientMerchantBalance.selector, 1, 0)
        );
        vm.prank(wallet);
        settlement.withdrawOwn(merchant, 1);
    }

    function test_nobodyElseWithdrawsForAWallet() public {
        _settle(_sale(1));
        address wallet = vm.addr(WALLET_KEY);
        address[4] memory others = [OPERATOR, ADMIN, TREASURER, vm.addr(OTHER_WALLET_KEY)];
        for (uint256 i = 0; i < others.length; ++i) {
            vm.expectRevert(
                abi.encodeWithSelector(ISettlement.NotMerchantWallet.selector, others[i], wallet)
            );
            vm.prank(others[i]);
            settlement.withdrawOwn(merchant, 1);
        }
    }
}

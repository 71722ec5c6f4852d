// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Reason} from "../PaymentTypes.sol";
import {ISettlement} from "../artifacts/ISettlement.sol";
import {ISettlementLens} from "../artifacts/ISettlementLens.sol";
import {ITestUSDC} from "../artifacts/ITestUSDC.sol";
import {BooksHandler} from "./BooksHandler.sol";
import {TestBase} from "./TestBase.sol";

/// @title After any sequence of actions by all roles, the contract's books equal the model's.
/// @dev The handler compares the result of each action: no payment settles twice, refunds stay
/// within payments, caps hold, and each refusal has the right reason. The invariants here compare
/// all balances, so that nothing else can have changed.
contract BooksTest is TestBase {
    BooksHandler private handler;
    ISettlement private settlement;
    ISettlementLens private lens;
    ITestUSDC private token;

    function setUp() public {
        handler = new BooksHandler();
        (settlement, token) = handler.contracts();
        lens = ISettlementLens(firstCreationOf(address(settlement)));
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    /// @dev Settling and refunding are listed more than once to be drawn more often.
    function targetSelectors() external view returns (FuzzSelector[] memory targets) {
        bytes4[] memory selectors = new bytes4[](22);
        for (uint256 i = 0; i < 4; ++i) {
            selectors[i] = BooksHandler.settle.selector;
        }
        for (uint256 i = 4; i < 6; ++i) {
            selectors[i] = BooksHandler.refund.selector;
        }
        selectors[6] = BooksHandler.settleAuthorized.selector;
        selectors[7] = BooksHandler.withdraw.selector;
        selectors[8] = BooksHandler.collectFees.selector;
        selectors[9] = BooksHandler.changePolicy.selector;
        selectors[10] = BooksHandler.changePayer.selector;
        selectors[11] = BooksHandler.wait.selector;
        selectors[12] = BooksHandler.changeRates.selector;
        selectors[13] = BooksHandler.pause.selector;
        selectors[14] = BooksHandler.changeCeiling.selector;
        selectors[15] = BooksHandler.changeWallet.selector;
        selectors[16] = BooksHandler.changeWallet.selector;
        selectors[17] = BooksHandler.hold.selector;
        selectors[18] = BooksHandler.changeRoles.selector;
        selectors[19] = BooksHandler.enrol.selector;
        selectors[20] = BooksHandler.flood.selector;
        selectors[21] = BooksHandler.settle.selector;
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(address(handler), selectors);
    }

    function invariant_everyBalanceEqualsTheModels() external view {
        uint256 owed;
        for (uint32 i = 1; i <= handler.MERCHANTS(); ++i) {
            (address wallet, uint56 balance, uint32 held) = settlement.merchantAccount(i);
            assertEq(balance, handler.merchantBalance(i), "merchant balance");
            (address expected, uint256 heldUntil) = handler.walletModel(i);
            assertEq(wallet, expected, "merchant wallet");
            assertEq(held, heldUntil, "held until");
            owed += balance;
        }
        (uint64 acquirerFees, uint64 protocolFees) = lens.bookedFees();
        assertEq(acquirerFees, handler.acquirerFees(), "acquirer fees");
        assertEq(protocolFees, handler.protocolFees(), "protocol fees");
        owed += uint256(acquirerFees) + protocolFees;
        assertEq(token.balanceOf(address(settlement)), owed, "token balance");
        (uint256 holds, uint256 owes, uint256 fees) = lens.holdings(1, handler.MERCHANTS());
        assertEq(holds, owed, "held, by the lens");
        assertEq(owes + fees, owed, "owed, by the lens");
        assertEq(fees, uint256(acquirerFees) + protocolFees, "fees, by the lens");
        assertEq(lens.batchCount(), handler.batches(), "batches");
        (, uint64 paid) = lens.outflow();
        assertEq(paid, handler.paidIn(block.timestamp / 1 hours), "paid out in this hour");
        for (uint256 i = 0; i < handler.payerCount(); ++i) {
            (address account, uint256 balance) = handler.payerModel(i);
            assertEq(token.balanceOf(account), balance, "payer balance");
        }
    }

    /// @dev One long sequence must cause every refusal reason; otherwise the campaign proves
    /// little.
    function test_theCampaignReachesEveryReason() external {
        bytes4[] memory selectors = this.targetSelectors()[0].selectors;
        for (uint256 i = 0; i < 8_000; ++i) {
            bytes4 selector = selectors[uint256(keccak256(abi.encode(i))) % selectors.length];
            (bool succeeded, bytes memory answer) =
                address(handler).call(abi.encodeWithSelector(selector, i));
            assertTrue(succeeded, string(answer));
        }
        this.invariant_everyBalanceEqualsTheModels();
        for (uint8 reason = Reason.NONE; reason <= Reason.CEILING_REACHED; ++reason) {
            uint256 seen = handler.reasonSeen(reason);
            if (seen < 10) revert NotEqual(seen, reason, "times was this reason seen");
        }
        assertTrue(handler.refundsPaid() > 100 && handler.refundsRefused() > 100, "refunds");
        assertTrue(handler.withdrawalsPaid() > 50, "withdrawals");
        assertTrue(handler.outflowsRefused() > 2, "outflows refused");
        assertTrue(handler.withdrawalsHeldBack() > 5, "withdrawals held back");
        assertTrue(handler.walletsApplied() > 5 && handler.walletsCanceled() > 5, "wallets");
        assertTrue(handler.walletsDropped() > 2, "dropped wallets");
        assertTrue(handler.lapses() > 5, "lapses");
        assertTrue(handler.proofsRefused() > 5, "refused proofs");
        assertTrue(handler.operationsCanceled() > 50, "canceled operations");
        assertTrue(handler.raisesHeldBack() > 2, "raises held back");
        assertTrue(handler.enrolments() > 20 && handler.enrolmentsRefused() > 20, "enrolments");
    }
}

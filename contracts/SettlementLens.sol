// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Governance, Rates} from "./Governance.sol";
import {PackedCharges} from "./PackedCharges.sol";
import {PackedLedger, PackedLedgerFields} from "./PackedLedger.sol";
import {PackedOutflow} from "./PackedOutflow.sol";
import {PackedPolicy} from "./PackedPolicy.sol";
import {PaymentCodec, PaymentHead, PaymentTail} from "./PaymentCodec.sol";
import {PaymentRules} from "./PaymentRules.sol";
import {Reason} from "./PaymentTypes.sol";

/// @dev The views of a settlement contract that the lens reads.
interface ILensSource {
    function ledgerWord() external view returns (PackedLedger);
    function outflowWord() external view returns (PackedOutflow);
    function policyWord(address payer) external view returns (PackedPolicy);
    function isSettled(uint64 number) external view returns (bool);
    function nonces(address owner) external view returns (uint256);
    function merchantAccount(uint32 merchant)
        external
        view
        returns (address wallet, uint56 balance, uint32 heldUntil);
    function walletChange(uint32 merchant)
        external
        view
        returns (address wallet, uint48 applicableAt, address proposer);
}

/// @dev Views of Circle's token.
interface ICircleToken {
    function isBlacklisted(address account) external view returns (bool);
    function paused() external view returns (bool);
}

/// @notice The result of {payerAccount}. `spent` counts the current period.
struct PayerAccount {
    uint256 balance;
    uint256 allowance;
    uint256 nonce;
    uint48 perPayment;
    uint48 perPeriod;
    uint48 spent;
    uint24 periodSeconds;
    uint40 expiresAt;
    uint16 maxFeeRate;
}

/// @notice An announced wallet change.
struct AnnouncedWallet {
    uint32 merchant;
    address from;
    address to;
    uint48 applicableAt;
    address proposer;
}

/// @title Decodes the settlement contract's packed words for clients.
/// @notice Holds no money and no state. Each settlement contract creates its own lens, at the
/// address of its first creation (nonce 1).
contract SettlementLens {
    ILensSource public immutable SETTLEMENT;
    IERC20 public immutable TOKEN;

    constructor(IERC20 token) {
        SETTLEMENT = ILensSource(msg.sender);
        TOKEN = token;
    }

    /// @notice The {Reason} with which each payment would fail now; each is checked independently.
    function preflight(bytes calldata payments) external view returns (uint8[] memory reasons) {
        uint256 count = PaymentCodec.count(payments);
        reasons = new uint8[](count);
        PackedLedger ledger = SETTLEMENT.ledgerWord();
        if (ledger.settlingPaused()) revert Governance.SettlingIsPaused();
        // The token is paused or blocks this contract, so it refuses every transfer.
        bool stopped = _affirms(abi.encodeCall(ICircleToken.paused, ()))
            || _isBlocked(address(SETTLEMENT));
        for (uint256 i = 0; i < count; ++i) {
            (PaymentHead head, PaymentTail tail) = PaymentCodec.read(payments, i);
            uint256 reason = _preflight(ledger, head, tail);
            if (reason == Reason.NONE && stopped) reason = Reason.TRANSFER_REFUSED;
            reasons[i] = uint8(reason);
        }
    }

    /// @notice The state of a payer in the contract and the token.
    function payerAccount(address payer) public view returns (PayerAccount memory) {
        PackedPolicy policy = SETTLEMENT.policyWord(payer);
        return PayerAccount({
            balance: TOKEN.balanceOf(payer),
            allowance: TOKEN.allowance(payer, address(SETTLEMENT)),
            nonce: SETTLEMENT.nonces(payer),
            perPayment: policy.perPayment(),
            perPeriod: policy.perPeriod(),
            spent: policy.spentAt(block.timestamp),
            periodSeconds: policy.periodSeconds(),
            expiresAt: policy.expiresAt(),
            maxFeeRate: policy.maxFeeRate()
        });
    }

    /// @notice {payerAccount} of many payers at once.
    function payerAccounts(address[] calldata payers)
        external
        view
        returns (PayerAccount[] memory accounts)
    {
        accounts = new PayerAccount[](payers.length);
        for (uint256 i = 0; i < payers.length; ++i) accounts[i] = payerAccount(payers[i]);
    }

    /// @notice The current costs of a sale: fees, cashback and the atoms that leave the payer's
    /// wallet.
    function quote(uint40 amount)
        external
        view
        returns (uint256 acquirerFee, uint256 protocolFee, uint256 cashback, uint256 pulled)
    {
        PackedCharges charges;
        (charges, pulled) = PaymentRules.charge(SETTLEMENT.ledgerWord(), amount);
        return (charges.acquirerFee(), charges.protocolFee(), charges.cashback(), pulled);
    }

    /// @notice The current rates, in basis points.
    function rates() external view returns (Rates memory) {
        PackedLedger ledger = SETTLEMENT.ledgerWord();
        return Rates(ledger.acquirerRate(), ledger.protocolRate(), ledger.cashbackRate());
    }

    /// @notice The atoms that may settle per clock hour, and those settled in the current one.
    /// Hours begin at fixed times, so at most twice the ceiling settles in any 60 minutes.
    function ceiling() external view returns (uint64 perHour, uint64 settled) {
        PackedLedger ledger = SETTLEMENT.ledgerWord();
        perHour = uint64(ledger.hourlyCeiling() * PackedLedgerFields.CEILING_UNIT);
        settled = uint64(ledger.settledAt(block.timestamp));
    }

    /// @notice The atoms that may be refunded per clock hour, and those refunded in the current
    /// one.
    function outflow() external view returns (uint64 perHour, uint64 paid) {
        PackedOutflow word = SETTLEMENT.outflowWord();
        perHour = uint64(word.hourlyCeiling() * PackedLedgerFields.CEILING_UNIT);
        paid = uint64(word.paidAt(block.timestamp));
    }

    /// @notice Fees booked and not yet collected, in atoms.
    function bookedFees() external view returns (uint56 acquirerFees, uint56 protocolFees) {
        PackedLedger ledger = SETTLEMENT.ledgerWord();
        return (ledger.acquirerFees(), ledger.protocolFees());
    }

    /// @notice The contract's balance of the token, and the sums that it owes: the balances of
    /// merchants `first` to `last`, both included, and the booked fees. Over all merchants, the
    /// difference is money that was sent here without a payment.
    function holdings(uint32 first, uint32 last)
        external
        view
        returns (uint256 held, uint256 owed, uint256 fees)
    {
        held = TOKEN.balanceOf(address(SETTLEMENT));
        for (uint256 i = first; i <= last; ++i) {
            (, uint56 balance,) = SETTLEMENT.merchantAccount(uint32(i));
            owed += balance;
        }
        PackedLedger ledger = SETTLEMENT.ledgerWord();
        fees = ledger.acquirerFees() + ledger.protocolFees();
    }

    function settlingPaused() external view returns (bool) {
        return SETTLEMENT.ledgerWord().settlingPaused();
    }

    function refundingPaused() external view returns (bool) {
        return SETTLEMENT.outflowWord().refundingPaused();
    }

    /// @notice The number of settled batches, which is also the number of the newest one.
    function batchCount() external view returns (uint40) {
        return SETTLEMENT.ledgerWord().batches();
    }

    /// @notice The wallets announced for merchants `first` to `last`, both included.
    function walletChanges(uint32 first, uint32 last)
        external
        view
        returns (AnnouncedWallet[] memory found)
    {
        found = new AnnouncedWallet[](uint256(last) - first + 1);
        uint256 count = 0;
        for (uint256 i = first; i <= last; ++i) {
            uint32 merchant = uint32(i);
            (address to, uint48 applicableAt, address proposer) = SETTLEMENT.walletChange(merchant);
            if (to == address(0)) continue;
            (address from,,) = SETTLEMENT.merchantAccount(merchant);
            found[count++] = AnnouncedWallet(merchant, from, to, applicableAt, proposer);
        }
        assembly ("memory-safe") {
            mstore(found, count)
        }
    }

    function _preflight(PackedLedger ledger, PaymentHead head, PaymentTail tail)
        private
        view
        returns (uint256 reason)
    {
        reason = PaymentRules.malformation(tail);
        if (reason != Reason.NONE) return reason;
        if (SETTLEMENT.isSettled(head.number())) return Reason.ALREADY_SETTLED;
        (address wallet,,) = SETTLEMENT.merchantAccount(tail.merchant());
        if (wallet == address(0)) return Reason.MERCHANT_UNKNOWN;
        if (tail.amount() > ledger.roomAt(block.timestamp)) return Reason.CEILING_REACHED;
        address payer = head.payer();
        PackedPolicy policy = SETTLEMENT.policyWord(payer);
        (reason,) = policy.spend(tail.amount(), PaymentRules.feeRate(ledger), block.timestamp);
        if (reason != Reason.NONE) return reason;
        (, uint256 value) = PaymentRules.charge(ledger, tail.amount());
        if (TOKEN.balanceOf(payer) < value) return Reason.INSUFFICIENT_FUNDS;
        if (TOKEN.allowance(payer, address(SETTLEMENT)) < value) {
            return Reason.INSUFFICIENT_ALLOWANCE;
        }
        return _isBlocked(payer) ? Reason.TRANSFER_REFUSED : Reason.NONE;
    }

    function _isBlocked(address account) private view returns (bool) {
        return _affirms(abi.encodeCall(ICircleToken.isBlacklisted, (account)));
    }

    /// @dev A token without such a function blocks no account.
    function _affirms(bytes memory question) private view returns (bool) {
        (bool answered, bytes memory answer) = address(TOKEN).staticcall(question);
        return answered && answer.length == 32 && abi.decode(answer, (uint256)) == 1;
    }
}

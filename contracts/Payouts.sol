// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {WalletChanges} from "./WalletChanges.sol";

/// @title Withdrawals to merchants' registered wallets.
/// @notice They have no pause and no ceiling, because the money can only go to the merchant's own
/// wallet.
abstract contract Payouts is WalletChanges {
    using SafeERC20 for IERC20;

    /// @dev Set while another wallet may be announced. If it is not set, withdrawals need not look
    /// for one.
    uint256 private constant CHANGE_ANNOUNCED = 1 << 192;

    /// @dev A whole word for one bit, because writing a part of a word would read it first.
    mapping(uint64 number => uint256) private _withdrawn;

    event Withdrawn(
        uint32 indexed merchant, address indexed wallet, uint64 indexed number, uint64 amount
    );

    error NotMerchantWallet(address attempted, address allowed);
    error WalletChangePending(uint32 merchant, address wallet);
    error PayoutsAreHeld(uint256 attemptedAt, uint256 allowedFrom);
    error NumberZero();
    error WithdrawalAlreadyPaid(uint64 number);

    /// @notice Pays out to the registered wallet, as the merchant requested. Refused while another
    /// wallet is announced, perhaps because this one's key was stolen.
    /// @param wallet Must be the registered one, so that the merchant gets the payout in the wallet
    /// it meant.
    /// @param number Not zero, and unique per network: a second call with it pays nothing. Numbers
    /// are spread over the whole range, so each has a slot of its own.
    /// @dev Reverts while the lock is held but does not take it, because all state is written
    /// before the transfer. This saves 240 gas.
    function withdraw(uint32 merchant, address wallet, uint64 amount, uint64 number)
        external
        onlyRole(OPERATOR_ROLE)
        nonReentrantView
    {
        if (number == 0) revert NumberZero();
        if (_withdrawn[number] != 0) revert WithdrawalAlreadyPaid(number);
        _withdrawn[number] = 1;
        if (_takeOut(merchant, wallet, amount) & CHANGE_ANNOUNCED != 0) {
            address pending = _pendingChange(merchant).wallet;
            if (pending != address(0)) revert WalletChangePending(merchant, pending);
        }
        _payOut(merchant, wallet, amount, number);
    }

    /// @notice Pays out to the registered wallet, which calls this itself. Once the hold on the
    /// merchant's first payouts has ended, no role can pause or refuse it, and no announced wallet
    /// delays it.
    /// @dev The event has number 0. The balance itself guards against replays.
    function withdrawOwn(uint32 merchant, uint64 amount) external nonReentrant {
        _takeOut(merchant, msg.sender, amount);
        _payOut(merchant, msg.sender, amount, 0);
    }

    /// @notice True if an operator has paid the withdrawal with this number.
    function isWithdrawalPaid(uint64 number) external view returns (bool) {
        return _withdrawn[number] != 0;
    }

    /// @return account The merchant's slot before this call.
    function _takeOut(uint32 merchant, address wallet, uint64 amount)
        private
        returns (uint256 account)
    {
        account = _debit(merchant, amount);
        address registered = address(uint160(account));
        if (wallet != registered) revert NotMerchantWallet(wallet, registered);
        uint256 heldUntil = uint32(account >> 160);
        if (block.timestamp < heldUntil) revert PayoutsAreHeld(block.timestamp, heldUntil);
    }

    function _payOut(uint32 merchant, address wallet, uint64 amount, uint64 number) private {
        emit Withdrawn(merchant, wallet, number, amount);
        TOKEN.safeTransfer(wallet, amount);
    }
}

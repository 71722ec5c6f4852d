// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {WalletChanges} from "./WalletChanges.sol";

/// @title Withdrawals to merchants' registered wallets.
/// @notice There is no pause and no ceiling for them: money can only go to the merchant's own wallet.
abstract contract Payouts is WalletChanges {
    using SafeERC20 for IERC20;

    /// @dev Set while another wallet may be announced: withdrawals look no further without it.
    uint256 private constant CHANGE_ANNOUNCED = 1 << 192;

    /// @dev A whole word for a bit: writing a part of one would read it first.
    mapping(uint64 number => uint256) private _withdrawn;

    event Withdrawn(
        uint32 indexed merchant, address indexed wallet, uint64 indexed number, uint64 amount
    );

    error NotMerchantWallet(address attempted, address allowed);
    error WalletChangePending(uint32 merchant, address wallet);
    error PayoutsAreHeld(uint256 attemptedAt, uint256 allowedFrom);
    error NumberZero();
    error WithdrawalAlreadyPaid(uint64 number);

    /// @notice Pays out to the registered wallet on the merchant's order. Waits while another wallet
    /// is announced: it may be announced because this one's key was stolen.
    /// @param wallet Must be the registered one, so that no wallet is paid that the merchant did not
    /// mean.
    /// @param number Any but zero, unique per network: a second call with it pays nothing. Numbers
    /// are spread over the whole range, so each has a slot of its own.
    /// @dev Reverts while the lock is held, and does not take it: all is written before the
    /// transfer. This saves 240 gas.
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

    /// @notice Pays out to the registered wallet at its own call. Once the hold on the
    /// merchant's first payouts has ended, no role can pause or refuse this; no announced wallet
    /// delays it.
    /// @dev The event carries number 0. The balance itself is the replay guard.
    function withdrawOwn(uint32 merchant, uint64 amount) external nonReentrant {
        _takeOut(merchant, msg.sender, amount);
        _payOut(merchant, msg.sender, amount, 0);
    }

    /// @notice True if an operator has paid the withdrawal with this number.
    function isWithdrawalPaid(uint64 number) external view returns (bool) {
        return _withdrawn[number] != 0;
    }

    /// @return account The merchant's slot as it was before.
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

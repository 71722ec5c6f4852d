// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {SimpleAccount} from "../node_modules/@account-abstraction/contracts/accounts/SimpleAccount.sol";
import {IEntryPoint} from "../node_modules/@account-abstraction/contracts/interfaces/IEntryPoint.sol";

/// @title The sample account of ERC-4337 with ERC-1271, which it lacks but accounts in use have.
contract ConfirmingAccount is SimpleAccount {
    constructor(IEntryPoint entryPoint_) SimpleAccount(entryPoint_) {}

    /// @notice True if the owner has signed.
    function isValidSignature(bytes32 hash, bytes calldata signature)
        external
        view
        returns (bytes4)
    {
        return ECDSA.recover(hash, signature) == owner ? this.isValidSignature.selector : bytes4(0);
    }
}

// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {TestUSDCLogic} from "../TestUSDC.sol";

/// @title The test token with transfers that contracts sign, which Circle's token has and ours
/// lacks.
contract FullUSDC is TestUSDCLogic {
    /// @notice EIP-3009 with a signature of any length.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external {
        bytes32 structHash = keccak256(
            abi.encode(
                TRANSFER_WITH_AUTHORIZATION_TYPEHASH,
                from,
                to,
                value,
                validAfter,
                validBefore,
                nonce
            )
        );
        bytes32 digest = _hashTypedDataV4(structHash);
        if (!SignatureChecker.isValidSignatureNowCalldata(from, digest, signature)) {
            revert ERC3009InvalidSignature();
        }
        _transferWithAuthorization(from, to, value, validAfter, validBefore, nonce);
    }
}

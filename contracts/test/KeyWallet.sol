// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title A contract wallet with one key. Its signatures may have any length.
contract KeyWallet {
    enum Manner {
        HONEST,
        // Accepts in an eth_call without a gas price, and refuses in a transaction.
        TWO_FACED,
        // Never returns.
        ENDLESS,
        // Accepts in an eth_call without a gas price, and uses up all gas in a transaction.
        BURNING,
        // Accepts at once with little gas, as in a check of a signature, and otherwise uses up 5
        // million, as in a transfer.
        GREEDY
    }

    bytes4 private constant YES = 0x1626ba7e;

    address private immutable KEY;
    Manner private immutable MANNER;

    constructor(address key, Manner manner) {
        KEY = key;
        MANNER = manner;
    }

    /// @notice ERC-1271.
    function isValidSignature(bytes32 digest, bytes calldata signature)
        external
        view
        returns (bytes4)
    {
        while (MANNER == Manner.ENDLESS || (MANNER == Manner.BURNING && tx.gasprice != 0)) {}
        if (MANNER == Manner.TWO_FACED && tx.gasprice != 0) return 0;
        if (MANNER == Manner.GREEDY && gasleft() > 800_000) {
            uint256 left = gasleft() - 5_000_000;
            while (gasleft() > left) {}
        }
        if (signature.length < 65) return 0;
        uint8 v = uint8(signature[64]);
        address signer =
            ecrecover(digest, v, bytes32(signature[:32]), bytes32(signature[32:64]));
        return signer == KEY ? YES : bytes4(0);
    }
}

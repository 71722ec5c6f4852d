// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title The replay guard: which of 256 neighboring numbers have settled, a bit for each.
/// @dev A payment's number names the word by its higher bits and the bit by its lowest eight.
library SettledWord {
    function indexOf(uint256 number) internal pure returns (uint256) {
        return number >> 8;
    }

    function has(uint256 word, uint256 number) internal pure returns (bool) {
        return (word >> (number & 0xff)) & 1 == 1;
    }

    function with(uint256 word, uint256 number) internal pure returns (uint256) {
        return word | (1 << (number & 0xff));
    }
}

// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title The replay guard: one bit for each of 256 consecutive payment numbers, set once settled.
/// @dev The higher bits of a payment's number select the word, and the lowest eight the bit.
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

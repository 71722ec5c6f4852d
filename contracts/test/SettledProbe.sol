// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Emits the events of many batches of one payment each, for test/long/batches.test.ts.
contract SettledProbe {
    event PaymentSettled(
        uint64 indexed number, address indexed payer, bytes17 terms, uint256 charges
    );

    function settle(uint64 first, uint64 count, bytes17 terms, uint256 fees) external {
        for (uint64 number = first; number < first + count; ++number) {
            uint256 charges = (uint256(number) << 192) | fees;
            emit PaymentSettled(number, address(uint160(number)), terms, charges);
        }
    }
}

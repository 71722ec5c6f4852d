// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Reason} from "../PaymentTypes.sol";
import {ISettlement} from "../artifacts/ISettlement.sol";
import {SettlementFixture} from "./SettlementFixture.sol";

/// @title The most that can leave within any window as long as a period.
/// @notice Periods begin with the Unix epoch, so a cap can be used up right before the end of one
/// and again right after it. Never a third time.
contract WindowsTest is SettlementFixture {
    uint256 private constant STEPS = 24;
    uint40 private constant CAP = 10e6;
    /// @dev CAP in whole USDC.
    uint24 private constant LOW = 10;

    struct Sale {
        uint256 time;
        uint256 amount;
    }

    Sale[] private sales;

    function test_aDailyCapIsSpentAtMostTwiceAroundMidnight() public {
        _capPerPeriod(1 days, CAP / 2);
        uint256 midnight = 20_001 days;
        vm.warp(midnight - 1);
        assertEq(_settleOne(_packed(1, payer, merchant, CAP / 2)), Reason.NONE, "before midnight");
        vm.warp(midnight);
        assertEq(_settleOne(_packed(2, payer, merchant, CAP / 2)), Reason.NONE, "after midnight");
        for (uint64 hour = 1; hour < 24; ++hour) {
            vm.warp(midnight + hour * 1 hours - 1);
            uint8 reason = _settleOne(_packed(2 + hour, payer, merchant, 1));
            assertEq(reason, Reason.PERIOD_CAP_EXCEEDED, "within a day of the first");
        }
        vm.warp(midnight + 1 days - 1);
        uint8 last = _settleOne(_packed(90, payer, merchant, 1));
        assertEq(last, Reason.PERIOD_CAP_EXCEEDED, "the last second");
        vm.warp(midnight + 1 days);
        assertEq(_settleOne(_packed(91, payer, merchant, CAP / 2)), Reason.NONE, "a new day");
    }

    /// @dev For any length of the period, and any times and amounts of payments.
    function testFuzz_anyPeriodSpendsAtMostTwoCaps(uint24 drawn, uint256 seed) public {
        uint24 period = uint24(bound(drawn, 60, type(uint24).max));
        _capPerPeriod(period, CAP / 2);
        _sellAtRandom(seed, period, CAP / 2);
        _requireAtMost(CAP, period);
    }

    /// @dev The same for the ceiling of the contract and any 60 minutes.
    function testFuzz_any60MinutesSettleAtMostTwoCeilings(uint256 seed) public {
        vm.prank(GUARDIAN);
        settlement.lowerCeiling(LOW);
        _sellAtRandom(seed, 1 hours, CAP);
        _requireAtMost(2 * CAP, 1 hours);
    }

    function _capPerPeriod(uint24 period, uint48 cap) private {
        ISettlement.Policy memory policy = _widePolicy();
        (policy.periodSeconds, policy.perPeriod, policy.perPayment) = (period, cap, cap);
        vm.prank(payer);
        settlement.setPolicy(policy);
    }

    /// @dev Sells random amounts up to the period's cap, often two at the same time and often at a
    /// period's edges.
    function _sellAtRandom(uint256 seed, uint256 period, uint40 cap) private {
        for (uint64 i = 0; i < STEPS; ++i) {
            uint256 drawn = uint256(keccak256(abi.encode(seed, i)));
            uint256 next = (block.timestamp / period + 1) * period;
            if (drawn % 4 == 0) vm.warp(next - 1);
            if (drawn % 4 == 1) vm.warp(next);
            if (drawn % 4 == 2) vm.warp(block.timestamp + (drawn >> 8) % period);
            uint40 amount = (drawn >> 128) % 2 == 0 ? cap : uint40(1 + (drawn >> 136) % cap);
            if (_settleOne(_packed(i, payer, merchant, amount)) != Reason.NONE) continue;
            sales.push(Sale(block.timestamp, amount));
        }
        assertTrue(sales.length > 0, "nothing was sold");
    }

    function _requireAtMost(uint256 allowed, uint256 period) private view {
        for (uint256 first = 0; first < sales.length; ++first) {
            uint256 sum = 0;
            for (uint256 i = first; i < sales.length; ++i) {
                if (sales[i].time < sales[first].time + period) sum += sales[i].amount;
            }
            assertTrue(sum <= allowed, "more than two");
        }
    }
}

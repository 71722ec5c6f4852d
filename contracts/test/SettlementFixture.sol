// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISettlement} from "../artifacts/ISettlement.sol";
import {ISettlementLens} from "../artifacts/ISettlementLens.sol";
import {ITestUSDC} from "../artifacts/ITestUSDC.sol";
import {ITimelock} from "../artifacts/ITimelock.sol";
import {RangeModel} from "./RangeModel.sol";
import {TestBase} from "./TestBase.sol";

/// @title A deployed Settlement with two merchants, and with payers that can pay.
abstract contract SettlementFixture is TestBase {
    using RangeModel for RangeModel.Range;

    uint48 internal constant GOVERNANCE_DELAY = 7 days;
    uint48 internal constant WALLET_DELAY = 3 days;
    /// @dev Most tests need no hold; the hold has separate tests.
    uint48 internal constant PAYOUT_HOLD = 0;
    /// @dev The highest ceiling, so that only tests of the ceiling reach it.
    uint24 internal constant CEILING = type(uint24).max;

    /// @dev Owns the token.
    address internal constant ADMIN = address(0xad);
    address internal constant PROPOSER = address(0x09);
    address internal constant OTHER_PROPOSER = address(0x0b);
    address internal constant STEWARD = address(0x0c);
    address internal constant OPERATOR = address(0x01);
    address internal constant OTHER_OPERATOR = address(0x02);
    address internal constant REGISTRAR = address(0x03);
    address internal constant GUARDIAN = address(0x04);
    address internal constant OTHER_GUARDIAN = address(0x07);
    address internal constant TREASURER = address(0x05);
    address internal constant STRANGER = address(0x06);
    address internal constant WATCHER = address(0x08);

    uint256 internal constant WALLET_KEY = 0xa11ce;
    uint256 internal constant OTHER_WALLET_KEY = 0xb0b;
    uint256 internal constant PAYER_KEY = 0xbeef;

    uint40 internal constant FOREVER = type(uint40).max;
    uint40 internal constant SALE = 2_500_000;
    /// @dev The costs of SALE: fees of 7,500 and 5,000, cashback of 1,250.
    uint256 internal constant PULLED = 2_511_250;

    ITestUSDC internal token;
    ISettlement internal settlement;
    uint32 internal merchant;
    uint256 private _operations;
    uint32 internal otherMerchant;
    address internal payer;

    function setUp() public virtual {
        // Noon, so that a day has room on both sides.
        vm.warp(20_000 days + 12 hours);
        token = ITestUSDC(deploy("TestUSDC", abi.encode(ADMIN)));
        settlement = _deploy(address(token));
        merchant = _register("acct_1", WALLET_KEY);
        otherMerchant = _register("acct_2", OTHER_WALLET_KEY);
        payer = _goodPayer(PAYER_KEY);
    }

    function _deploy(address token_) internal returns (ISettlement deployed) {
        deployed = ISettlement(deploy("Settlement", abi.encode(token_, _setup())));
        deployed.deployPlanned(_lensCode(token_));
        deployed.deployPlanned(_timelockCode());
    }

    function _lensCode(address token_) internal view returns (bytes memory) {
        return bytes.concat(codeOf("SettlementLens"), abi.encode(token_));
    }

    function _timelockCode() internal view returns (bytes memory) {
        ISettlement.Setup memory setup = _setup();
        return bytes.concat(
            codeOf("Timelock"), abi.encode(setup.governanceDelay, setup.proposers)
        );
    }

    function lens() internal view returns (ISettlementLens) {
        return ISettlementLens(firstCreationOf(address(settlement)));
    }

    function timelock() internal view returns (ITimelock) {
        return ITimelock(settlement.timelock());
    }

    /// @dev Schedules one call of the timelock. @return id The operation's.
    function _schedule(address target, bytes memory data, bytes32 salt)
        internal
        returns (bytes32 id)
    {
        ITimelock admin = timelock();
        id = admin.hashOperation(target, 0, data, 0, salt);
        vm.prank(PROPOSER);
        admin.schedule(target, 0, data, 0, salt, GOVERNANCE_DELAY);
    }

    /// @dev Executes an operation as a stranger, because anyone may do so.
    function _execute(address target, bytes memory data, bytes32 salt) internal {
        ITimelock admin = timelock();
        vm.prank(STRANGER);
        admin.execute(target, 0, data, 0, salt);
    }

    /// @dev Schedules, waits and executes a call of the settlement contract.
    function _govern(bytes memory data) internal {
        bytes32 salt = keccak256(abi.encode(data, ++_operations));
        _schedule(address(settlement), data, salt);
        vm.warp(block.timestamp + GOVERNANCE_DELAY);
        _execute(address(settlement), data, salt);
    }

    function _expectRole(address account, bytes32 role) internal {
        expectError(ISettlement.AccessControlUnauthorizedAccount.selector, account, role);
    }

    function _grant(bytes32 role, address account) internal {
        _govern(abi.encodeCall(settlement.grantRole, (role, account)));
    }

    function _setRates(uint16 acquirer, uint16 protocol, uint16 cashback) internal {
        ISettlement.Rates memory rates_ = ISettlement.Rates(acquirer, protocol, cashback);
        _govern(abi.encodeCall(settlement.setRates, (rates_)));
    }

    function _setup() internal view virtual returns (ISettlement.Setup memory) {
        address[] memory operators = new address[](2);
        (operators[0], operators[1]) = (OPERATOR, OTHER_OPERATOR);
        address[] memory guardians = new address[](2);
        (guardians[0], guardians[1]) = (GUARDIAN, OTHER_GUARDIAN);
        address[] memory proposers = new address[](2);
        (proposers[0], proposers[1]) = (PROPOSER, OTHER_PROPOSER);
        address[] memory watchers = new address[](1);
        watchers[0] = WATCHER;
        return ISettlement.Setup({
            proposers: proposers,
            steward: STEWARD,
            operators: operators,
            registrar: REGISTRAR,
            guardians: guardians,
            watchers: watchers,
            treasurer: TREASURER,
            governanceDelay: GOVERNANCE_DELAY,
            walletDelay: WALLET_DELAY,
            payoutHold: PAYOUT_HOLD,
            hourlyCeiling: CEILING,
            rates: ISettlement.Rates({acquirer: 30, protocol: 20, cashback: 5})
        });
    }

    function _register(string memory account, uint256 walletKey) internal returns (uint32) {
        bytes32 merchantReference = keccak256(bytes(account));
        address wallet = vm.addr(walletKey);
        bytes memory signature = _signConsent(walletKey, merchantReference, block.timestamp);
        vm.prank(REGISTRAR);
        return settlement.registerMerchant(merchantReference, wallet, block.timestamp, signature);
    }

    /// @dev A payer with money, an unlimited allowance and a wide policy.
    function _goodPayer(uint256 key) internal returns (address account) {
        account = vm.addr(key);
        token.mint(account, 1e13);
        vm.prank(account);
        token.approve(address(settlement), type(uint256).max);
        vm.prank(account);
        settlement.setPolicy(_widePolicy());
    }

    function _widePolicy() internal pure returns (ISettlement.Policy memory) {
        return ISettlement.Policy({
            perPayment: 1e12,
            perPeriod: 1e13,
            periodSeconds: 1 days,
            expiresAt: FOREVER,
            maxFeeRate: 50
        });
    }

    function _packed(uint64 number, address from, uint32 to, uint40 amount)
        internal
        pure
        returns (bytes memory)
    {
        return abi.encodePacked(number, from, to, amount, bytes8("ORDER-1"));
    }

    /// @dev A payment of SALE from the good payer to the first merchant.
    function _sale(uint64 number) internal view returns (bytes memory) {
        return _packed(number, payer, merchant, SALE);
    }

    function _settle(bytes memory payments) internal returns (bytes memory reasons) {
        vm.prank(OPERATOR);
        return settlement.settleBatch(payments, _now());
    }

    /// @dev Settles one payment and returns its reason: odd numbers separately, even ones as a batch.
    function _settleOne(bytes memory payment) internal returns (uint8) {
        if (uint8(payment[7]) % 2 == 1) return _separately(payment);
        bytes memory reasons = _settle(payment);
        return reasons.length == 0 ? 0 : uint8(reasons[0]);
    }

    function _separately(bytes memory payment) internal returns (uint8) {
        vm.prank(OPERATOR);
        return settlement.settlePaymentSeparately(payment, _now());
    }

    /// @dev Sets the number of earlier batches. The contract must have settled none yet.
    function _beginAt(ISettlement on, RangeModel.Range storage range, uint256 batches) internal {
        range.begin(batches);
        uint256 word = on.ledgerWord();
        uint256 slot = 0;
        while (uint256(vm.load(address(on), bytes32(slot))) != word) ++slot;
        vm.store(address(on), bytes32(slot), bytes32(word | (batches << 116)));
        // Before the first batch, every node of the ring is 1.
        uint256 nodes = 0;
        while (uint256(vm.load(address(on), bytes32(nodes))) != 1) ++nodes;
        require(uint256(vm.load(address(on), bytes32(nodes + 255))) == 1, "the ring");
        for (uint256 height = 0; height < 36; ++height) {
            uint256 batch = (batches >> height) << height;
            if ((batch >> height) % 2 == 0) continue;
            bytes32 index = bytes32(nodes + RangeModel.indexOf(batch));
            vm.store(address(on), index, range.nodeOf(batch));
        }
    }

    /// @dev The current time, which is the earliest deadline that has not passed.
    function _now() internal view returns (uint40) {
        return uint40(block.timestamp);
    }

    function _balanceOf(uint32 merchant_) internal view returns (uint256 balance) {
        (, balance,) = settlement.merchantAccount(merchant_);
    }

    function _signConsent(uint256 key, bytes32 merchantReference, uint256 deadline)
        internal
        view
        returns (bytes memory)
    {
        bytes32 typeHash =
            keccak256("MerchantConsent(bytes32 reference,address wallet,uint256 deadline)");
        return
            _sign(key, keccak256(abi.encode(typeHash, merchantReference, vm.addr(key), deadline)));
    }

    function _signWalletConsent(uint256 key, uint32 merchant_, uint256 deadline)
        internal
        view
        returns (bytes memory)
    {
        bytes32 typeHash = keccak256(
            "WalletConsent(uint32 merchant,address wallet,uint256 nonce,uint256 deadline)"
        );
        address wallet = vm.addr(key);
        uint256 nonce = settlement.nonces(wallet);
        return _sign(key, keccak256(abi.encode(typeHash, merchant_, wallet, nonce, deadline)));
    }

    function _signPolicy(uint256 key, ISettlement.Policy memory policy, uint256 deadline)
        internal
        view
        returns (bytes memory)
    {
        bytes32 typeHash = keccak256(
            "SpendingPolicy(address payer,uint48 perPayment,uint48 perPeriod,uint24 periodSeconds,uint40 expiresAt,uint16 maxFeeRate,uint256 nonce,uint256 deadline)"
        );
        address signer = vm.addr(key);
        uint256 nonce = settlement.nonces(signer);
        return _sign(key, keccak256(abi.encode(typeHash, signer, policy, nonce, deadline)));
    }

    function _signRevocation(uint256 key, uint256 deadline) internal view returns (bytes memory) {
        bytes32 typeHash =
            keccak256("PolicyRevocation(address payer,uint256 nonce,uint256 deadline)");
        address signer = vm.addr(key);
        uint256 nonce = settlement.nonces(signer);
        return _sign(key, keccak256(abi.encode(typeHash, signer, nonce, deadline)));
    }

    function _permit(uint256 key, uint256 value, uint256 deadline)
        internal
        view
        returns (ISettlement.Permit memory permit)
    {
        bytes32 typeHash = keccak256(
            "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"
        );
        address owner = vm.addr(key);
        bytes32 structHash = keccak256(
            abi.encode(typeHash, owner, address(settlement), value, token.nonces(owner), deadline)
        );
        (permit.value, permit.deadline) = (value, deadline);
        (uint8 v, bytes32 r, bytes32 s) =
            vm.sign(key, _digest(token.DOMAIN_SEPARATOR(), structHash));
        permit.signature = abi.encodePacked(r, s, v);
    }

    /// @dev An authorization valid for the next hour.
    function _authorization(
        uint256 key,
        uint256 value,
        bytes32 nonce,
        bool bindsOrder,
        bytes32 salt
    ) internal view returns (ISettlement.Authorization memory authorization) {
        authorization = _authorizationFrom(key, value, nonce, salt, 0);
        authorization.bindsOrder = bindsOrder;
    }

    /// @dev An authorization that binds no order and is not valid before `validAfter`.
    function _authorizationFrom(
        uint256 key,
        uint256 value,
        bytes32 nonce,
        bytes32 salt,
        uint256 validAfter
    ) internal view returns (ISettlement.Authorization memory authorization) {
        authorization.salt = salt;
        authorization.validAfter = validAfter;
        authorization.validBefore = block.timestamp + 1 hours;
        bytes32 typeHash = keccak256(
            "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
        );
        bytes32 structHash = keccak256(
            abi.encode(
                typeHash,
                vm.addr(key),
                address(settlement),
                value,
                authorization.validAfter,
                authorization.validBefore,
                nonce
            )
        );
        (uint8 v, bytes32 r, bytes32 s) =
            vm.sign(key, _digest(token.DOMAIN_SEPARATOR(), structHash));
        authorization.signature = abi.encodePacked(r, s, v);
    }

    /// @dev Computes the separator as wallets do, instead of reading it from the contract.
    function _domainSeparator() private view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256(
                    "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
                ),
                keccak256("Tapline Settlement"),
                keccak256("2"),
                block.chainid,
                address(settlement)
            )
        );
    }

    function _sign(uint256 key, bytes32 structHash) private view returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, _digest(_domainSeparator(), structHash));
        return abi.encodePacked(r, s, v);
    }

    function _digest(bytes32 domainSeparator, bytes32 structHash) private pure returns (bytes32) {
        return keccak256(abi.encodePacked("\x19\x01", domainSeparator, structHash));
    }
}

// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Reason} from "../PaymentTypes.sol";
import {ISettlement} from "../artifacts/ISettlement.sol";
import {SettlementFixture} from "./SettlementFixture.sol";

/// @dev A contract wallet that takes signatures of any length, or burns gas, or answers nonsense.
contract ContractWallet {
    bytes32 private immutable ACCEPTED;
    bytes private answer;
    bool private burning;
    uint256 private appetite;

    constructor(bytes memory accepted) {
        ACCEPTED = keccak256(accepted);
        answer = abi.encode(bytes4(0x1626ba7e));
    }

    function answerWith(bytes calldata answer_, bool burning_) external {
        (answer, burning) = (answer_, burning_);
    }

    /// @notice Sets the gas that checking a signature takes from now on.
    function need(uint256 appetite_) external {
        appetite = appetite_;
    }

    function isValidSignature(bytes32, bytes calldata signature) external view {
        while (burning) {}
        uint256 stop = gasleft() > appetite ? gasleft() - appetite : 0;
        while (gasleft() > stop) {}
        bytes memory given = keccak256(signature) == ACCEPTED ? answer : abi.encode(bytes4(0));
        assembly ("memory-safe") {
            return(add(given, 0x20), mload(given))
        }
    }

    function approve(address token, address spender) external {
        (bool done,) = token.call(
            abi.encodeWithSignature("approve(address,uint256)", spender, type(uint256).max)
        );
        require(done);
    }
}

/// @dev Accepts, with 400 kB of extra response, which would cost its caller as much to copy.
contract LongAnswer {
    function isValidSignature(bytes32, bytes calldata) external pure {
        assembly ("memory-safe") {
            mstore(0, shl(224, 0x1626ba7e))
            return(0, 400000)
        }
    }
}

contract WalletSignaturesTest is SettlementFixture {
    bytes private constant LONG = "a signature of a passkey is longer than those 65 bytes of ECDSA, as"
        " it carries what the authenticator and the browser have said";
    bytes private constant SHORT = "ok";

    ContractWallet private wallet;

    function setUp() public override {
        super.setUp();
        wallet = new ContractWallet(LONG);
        token.mint(address(wallet), 1e13);
        wallet.approve(address(token), address(settlement));
    }

    function _setPolicy(bytes memory signature) private {
        settlement.setPolicyBySignature(address(wallet), _widePolicy(), block.timestamp, signature);
    }

    function _expectRefused() private {
        expectError(ISettlement.SignatureInvalid.selector, address(wallet));
    }

    function test_aContractWalletEnrolsPaysAndRevokes() public {
        ISettlement.Permit memory permit = ISettlement.Permit(2e12, block.timestamp, LONG);
        settlement.enrol(address(wallet), _widePolicy(), block.timestamp, LONG, permit);
        assertEq(token.allowance(address(wallet), address(settlement)), 2e12, "permit");
        assertEq(_settleOne(_packed(1, address(wallet), merchant, SALE)), Reason.NONE, "pays");
        settlement.revokePolicyBySignature(address(wallet), block.timestamp, LONG);
        assertEq(
            _settleOne(_packed(2, address(wallet), merchant, SALE)), Reason.POLICY_REVOKED, "ended"
        );
    }

    function test_aContractWalletAuthorizesOnePayment() public {
        ISettlement.Authorization memory authorization = ISettlement.Authorization({
            bindsOrder: false,
            salt: "",
            validAfter: 0,
            validBefore: block.timestamp + 1,
            signature: LONG
        });
        bytes memory payment = _packed(1, address(wallet), merchant, SALE);
        vm.prank(OPERATOR);
        uint8 reason = settlement.settleWithAuthorization(payment, authorization, _now());
        assertEq(reason, Reason.NONE, "reason");
        authorization.signature = SHORT;
        payment = _packed(2, address(wallet), merchant, SALE);
        vm.prank(OPERATOR);
        reason = settlement.settleWithAuthorization(payment, authorization, _now());
        assertEq(reason, Reason.AUTHORIZATION_REFUSED, "another signature");
    }

    function test_aSignatureThatTheWalletDoesNotConfirmIsRefused() public {
        _expectRefused();
        _setPolicy(SHORT);
        _expectRefused();
        _setPolicy("");
        bytes[4] memory answers = [
            bytes(""),
            hex"1626ba7e",
            abi.encode(uint256(1)),
            abi.encodePacked(bytes4(0x1626ba7e), bytes28(uint224(1)))
        ];
        for (uint256 i = 0; i < answers.length; ++i) {
            wallet.answerWith(answers[i], false);
            _expectRefused();
            _setPolicy(LONG);
        }
        wallet.answerWith(abi.encode(bytes4(0x1626ba7e)), false);
        _setPolicy(LONG);
    }

    function test_aWalletThatBurnsGasBurnsLittle() public {
        wallet.answerWith("", true);
        uint256 before = gasleft();
        _expectRefused();
        _setPolicy(LONG);
        assertTrue(before - gasleft() < 700_000, "gas is limited");
    }

    /// @dev A passkey needs about 350,000 where the chain has no precompile for it.
    function test_aWalletGetsExactlyTheGasLimitOfASignature() public {
        wallet.need(485_000);
        _setPolicy(LONG);
        assertEq(lens().payerAccount(address(wallet)).perPayment, 1e12, "policy");
        wallet.need(500_000);
        _expectRefused();
        _setPolicy(LONG);
    }

    function test_anAuthorizedPullGetsTheSignatureGasInAddition() public {
        ISettlement.Authorization memory authorization = ISettlement.Authorization({
            bindsOrder: false,
            salt: "",
            validAfter: 0,
            validBefore: block.timestamp + 1,
            signature: LONG
        });
        wallet.need(485_000);
        bytes memory payment = _packed(1, address(wallet), merchant, SALE);
        vm.prank(OPERATOR);
        uint8 reason = settlement.settleWithAuthorization(payment, authorization, _now());
        assertEq(reason, Reason.NONE, "a dear wallet pays");
        wallet.need(850_000);
        authorization.salt = "b";
        payment = _packed(2, address(wallet), merchant, SALE);
        uint256 before = gasleft();
        vm.prank(OPERATOR);
        reason = settlement.settleWithAuthorization(payment, authorization, _now());
        assertEq(reason, Reason.AUTHORIZATION_REFUSED, "a dearer one does not");
        assertTrue(before - gasleft() < 1_000_000, "and costs no more than that");
    }

    function test_aWalletWithALongResponseCostsItsCallerNoMore() public {
        LongAnswer chatty = new LongAnswer();
        uint256 before = gasleft();
        settlement.setPolicyBySignature(address(chatty), _widePolicy(), block.timestamp, LONG);
        assertTrue(before - gasleft() < 650_000, "one word is copied");
        assertEq(lens().payerAccount(address(chatty)).perPayment, 1e12, "policy");
    }

    function test_anAccountWithDelegatedCodeSignsWithItsOwnKey() public {
        address account = vm.addr(0xde1e);
        // EIP-7702: the account has code that confirms no signature.
        vm.etch(account, hex"60006000fd");
        bytes memory signature = _signPolicy(0xde1e, _widePolicy(), block.timestamp);
        settlement.setPolicyBySignature(account, _widePolicy(), block.timestamp, signature);
        assertEq(lens().payerAccount(account).perPayment, 1e12, "policy");
    }

    function test_anAddressWithAKeyRefusesAnotherKeysSignature() public {
        bytes memory signature = _signPolicy(PAYER_KEY, _widePolicy(), block.timestamp);
        expectError(ISettlement.SignatureInvalid.selector, STRANGER);
        settlement.setPolicyBySignature(STRANGER, _widePolicy(), block.timestamp, signature);
    }
}

package import TLS
import Wire

/// The reason why a text is no NKey that a client can use.
package enum NKeyFailure: Error, Sendable, Equatable, CaseIterable {
    case notBase32
    case wrongLength
    case wrongChecksum
    /// A public key, or something else.
    case notSeed
    /// A seed of an account, an operator or a server.
    case notUser
}

extension NKeyFailure: CustomStringConvertible {
    /// One line, without any part of the text.
    package var description: String {
        switch self {
        case .notBase32: "the NKey seed has a character that is neither A-Z nor 2-7: copy the line that begins with SU"
        case .wrongLength: "the NKey seed has not 58 characters: copy the whole line that begins with SU"
        case .wrongChecksum: "the NKey seed has a wrong character in it: copy it again"
        case .notSeed: "this NKey is not a seed: a seed begins with S, a user's with SU"
        case .notUser: "this NKey seed is not a user's, which begins with SU: make one with `nk -gen user`"
        }
    }
}

/// A key pair of NATS, made from its seed; outside of this module always a user's. It prints nothing of the seed.
package struct NKey: Sendable {
    /// The kind of the owner of a key; the raw value is the prefix of the public key (nats-io/nkeys).
    package enum Kind: UInt8, Sendable, CaseIterable {
        case account = 0
        case cluster = 16
        case server = 104
        case operators = 112
        case user = 160
    }

    /// The prefix of all seeds; the text of one begins with S.
    private static let seedPrefix: UInt8 = 144

    package let kind: Kind
    private let key: Ed25519Key

    /// Reads the seed of a user, with or without blanks and line ends around it.
    package init(user seed: Secret) throws(NKeyFailure) {
        try self.init(seed: seed)
        // The seed of an account or an operator can make users: it does not belong into a client.
        guard self.kind == .user else { throw .notUser }
    }

    /// Reads a seed of any kind.
    init(seed: Secret) throws(NKeyFailure) {
        let text = seed.reveal().split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let bytes = try NKeyText.bytes(text)
        // The prefix of seeds has five bits, the one of the kind eight: they share two bytes.
        guard bytes[0] & 0xF8 == Self.seedPrefix else { throw .notSeed }
        guard bytes.count == 2 + Ed25519Key.keyBytes, let key = Ed25519Key(seed: Array(bytes[2...])) else {
            throw .wrongLength
        }
        guard let kind = Kind(rawValue: (bytes[0] & 0x07) << 5 | bytes[1] >> 3) else { throw .notSeed }
        self.kind = kind
        self.key = key
    }

    /// The text of the public key; a user's begins with U.
    package var publicText: String { NKeyText.text([self.kind.rawValue] + self.key.publicKey) }

    /// Returns the signature of a server's nonce, in Base64 for URLs without padding.
    package func signature(of nonce: String) -> String { Base64.text(self.key.sign(nonce.utf8), as: .url) }
}

extension NKey: Equatable, CustomStringConvertible {
    package static func == (one: NKey, other: NKey) -> Bool { one.publicText == other.publicText }

    package var description: String { self.publicText }
}

import NIOCore
package import TLS
import Wire

/// The proof of identity in a `CONNECT`.
package enum ConnectProof: Sendable, Equatable {
    case user(String, password: Secret)
    case token(Secret)
    /// The public key of a user and the signature of the server's nonce, in Base64 for URLs without padding.
    case key(String, signature: String)
    /// A user's JWT and the signature of the server's nonce.
    case jwt(Secret, signature: String)
}

/// The members of a `CONNECT`. Its protocol is 1: the server may send `INFO` at any time.
package struct ConnectOptions: Sendable, Equatable {
    /// The client's name in the server's monitoring.
    package var name = ""
    /// The program's version.
    package var version = ""
    package var proof: ConnectProof?
    package var isEncrypted = false
    /// Whether the server sends this client's own messages back to its own subscriptions.
    package var echoes = true
    /// Whether headers may be sent and received. Requests without a responder are then answered with 503.
    package var hasHeaders = true

    package init() {}

    var json: ByteBuffer {
        JSONWriter.object { out in
            out.field("verbose", false)
            out.field("pedantic", false)
            out.field("tls_required", self.isEncrypted)
            out.field("lang", "swift")
            out.field("version", self.version)
            out.field("name", self.name)
            out.field("protocol", 1)
            out.field("echo", self.echoes)
            out.field("headers", self.hasHeaders)
            out.field("no_responders", self.hasHeaders)
            switch self.proof {
            case .user(let user, let password):
                out.field("user", user)
                out.field("pass", password.reveal())
            case .token(let token): out.field("auth_token", token.reveal())
            case .key(let key, let signature):
                out.field("nkey", key)
                out.field("sig", signature)
            case .jwt(let jwt, let signature):
                out.field("jwt", jwt.reveal())
                out.field("sig", signature)
            case nil: break
            }
        }
    }
}

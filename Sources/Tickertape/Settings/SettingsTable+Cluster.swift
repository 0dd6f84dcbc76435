import NATS
import Wire

/// The settings of a cluster.
extension Setting {
    static let clusterRole = Setting(
        "cluster.role",
        \.cluster.role,
        .word,
        help: "alone, or in a cluster over NATS: ingest (it holds the upstream) or edge (it gets the ingest's tape)."
    )

    static let clusterName = Setting(
        "cluster.name",
        \.cluster.name,
        .clusterName,
        help: "The cluster's name, a part of its subjects on NATS."
    )

    static let clusterMember = Setting(
        "cluster.member",
        \.cluster.member,
        Syntax.clusterName.optional("auto"),
        help: "This program's name in the cluster, which no other member has; auto takes the host's."
    )

    static let clusterServers = Setting(
        "cluster.servers",
        list: \.cluster.servers,
        of: .natsServer,
        count: 1...16,
        help: "The NATS servers: nats://HOST:PORT, or tls:// to require TLS."
    )

    static let clusterIdentityFile = Setting(
        "cluster.identity-file",
        \.cluster.identityFile,
        Syntax.path.optional("none"),
        help: "A file with a NATS credentials file's text, an NKey's seed, USER:PASSWORD, or a token without a colon."
    )
}

extension Syntax<String> {
    /// The name of a cluster or of a member (``ClusterSubjects/isName(_:)``).
    fileprivate static var clusterName: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                guard ClusterSubjects.isName(text) else {
                    throw ParseError("is not a name; it may have 1 to 64 letters, digits, - and _")
                }
                return text
            },
            write: { $0 }
        )
    }
}

extension Syntax<ServerAddress> {
    fileprivate static var natsServer: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                guard let address = ServerAddress(text) else {
                    throw ParseError("is not a NATS server; write it like nats://127.0.0.1:4222, without a user")
                }
                return address
            },
            write: { $0.description }
        )
    }
}

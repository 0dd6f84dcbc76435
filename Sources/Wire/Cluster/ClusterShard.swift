/// The shards of a cluster's prices. A symbol's shard follows from its name alone, so that any client can compute it.
package enum ClusterShard {
    package static let count = 8

    /// Returns a symbol's shard: FNV-1a of 32 bits over the UTF-8 bytes of its name, modulo ``count``
    /// (draft-eastlake-fnv, 2 and 5).
    package static func of(_ symbol: String) -> Int {
        var hash: UInt32 = 0x811C_9DC5
        for byte in symbol.utf8 { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        return Int(hash % UInt32(Self.count))
    }
}

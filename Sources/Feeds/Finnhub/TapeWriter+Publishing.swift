import Market
import NIOCore
import Wire

/// What the tape's readers are told beside trades.
extension TapeWriter {
    func publish(_ status: FeedStatus) {
        for reader in self.readers { reader.statusChanged(status) }
    }

    func publish(_ change: SymbolWatch.Change) {
        for reader in self.readers {
            switch change {
            case .state(let status): reader.symbolChanged(status)
            case .unwished(let symbol): reader.symbolUnwished(symbol)
            }
        }
    }

    func publish(_ gap: Gap) {
        for reader in self.readers { reader.gapFound(gap) }
    }

    /// What was in a ping or pong, as the readers get it: nothing where it repeats the key.
    ///
    /// Copied, for it must not keep the read alive that it came with.
    func told(_ payload: ByteBuffer) -> ByteBuffer {
        guard payload.readableBytes > 0, self.key?.occurs(in: payload.readableBytesView) != true else {
            return ByteBuffer()
        }
        return ByteBuffer(bytes: payload.readableBytesView)
    }

    /// Tells what happened on the connection beside its messages; at a monotonic time in ns.
    func publish(_ event: ConnectionEvent, monotonic: Int64) {
        for reader in self.readers { reader.connectionChanged(event, monotonic: monotonic) }
    }
}

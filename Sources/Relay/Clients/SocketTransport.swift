import Glibc
package import NIOCore
import TLS
import WebSocket

/// A client's socket, written to without the channel.
///
/// The channel keeps the descriptor and closes it, so it may be used only while the channel is active.
package struct SocketTransport: DirectTransport {
    let handle: NIOBSDSocket.Handle
    /// A peer that has gone is an error of this call, never a signal; and nobody is waited for.
    private static let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)

    init(handle: NIOBSDSocket.Handle) { self.handle = handle }

    /// The socket of a channel on whose way out nothing changes bytes; nil when there is TLS, or no socket.
    package init?(_ pipeline: ChannelPipeline) {
        let pipeline = pipeline.syncOperations
        guard (try? pipeline.handler(type: TLSHandler.self)) == nil,
            let handle = try? pipeline.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self, { $0 })
        else { return nil }
        self.handle = handle
    }

    package func send(_ bytes: ByteBuffer) -> Int {
        bytes.withUnsafeReadableBytes { max(0, Glibc.send(self.handle, $0.baseAddress, $0.count, Self.flags)) }
    }

    package func send(_ buffers: [ByteBuffer]) -> Int {
        withUnsafeTemporaryAllocation(of: iovec.self, capacity: buffers.count) {
            self.send(buffers[...], vectors: $0, count: 0)
        }
    }

    /// Takes one buffer's pointer after the other, for these live only as long as a closure.
    private func send(
        _ buffers: ArraySlice<ByteBuffer>,
        vectors: UnsafeMutableBufferPointer<iovec>,
        count: Int
    ) -> Int {
        guard let first = buffers.first else {
            var message = msghdr()
            message.msg_iov = vectors.baseAddress
            message.msg_iovlen = count
            return max(0, sendmsg(self.handle, &message, Self.flags))
        }
        return first.withUnsafeReadableBytes { bytes in
            vectors.initializeElement(
                at: count,
                to: iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
            )
            return self.send(buffers.dropFirst(), vectors: vectors, count: count + 1)
        }
    }
}

/// The socket of one of the relay's clients, which has a lane of the fan-out's as well.
struct SlotTransport: DirectTransport {
    let socket: SocketTransport
    let slot: DirectSlots.Slot
    let slots: DirectSlots

    func send(_ bytes: ByteBuffer) -> Int { self.socket.send(bytes) }

    func send(_ buffers: [ByteBuffer]) -> Int { self.socket.send(buffers) }

    func interrupted() { self.slots.close(self.slot) }

    func open() { self.slots.open(self.slot, to: self.socket.handle) }
}

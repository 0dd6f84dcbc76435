import Glibc
package import NIOCore
import TLS
import WebSocket

/// A client's socket, written to without the channel.
///
/// The channel owns the descriptor and closes it, so this may be used only while the channel is active.
package struct SocketTransport: DirectTransport {
    let handle: NIOBSDSocket.Handle
    /// A closed peer is an error of this call, never a signal, and the call does not block.
    private static let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)

    init(handle: NIOBSDSocket.Handle) { self.handle = handle }

    /// Takes the socket of a channel whose outbound handlers change no bytes; `nil` with TLS or without a socket.
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

    /// Collects the buffers' pointers recursively, since each is valid only inside its closure.
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

/// The socket of one of the relay's clients, together with its slot of the fan-out.
struct SlotTransport: DirectTransport {
    let socket: SocketTransport
    let slot: DirectSlots.Slot
    let slots: DirectSlots

    func send(_ bytes: ByteBuffer) -> Int { self.socket.send(bytes) }

    func send(_ buffers: [ByteBuffer]) -> Int { self.socket.send(buffers) }

    func interrupted() { self.slots.close(self.slot) }

    func open() { self.slots.open(self.slot, to: self.socket.handle) }
}

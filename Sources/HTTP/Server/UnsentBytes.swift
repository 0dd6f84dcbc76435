import Glibc
package import NIOCore
import TLS

/// What was written to a connection and its peer has not taken.
package enum UnsentBytes {
    /// Linux's `SIOCOUTQ` (tcp(7), unix(7)): the bytes that the peer's kernel has not taken.
    private static let request: UInt = 0x5411

    /// The bytes that wait in this program: for the socket, or to be encrypted.
    package static func waiting(in channel: any Channel) -> Int {
        let buffered = try? channel.syncOptions?.getOption(.bufferedWritableBytes)
        let tls = try? channel.pipeline.syncOperations.handler(type: TLSHandler.self)
        return (buffered ?? 0) + (tls?.pendingBytes ?? 0)
    }

    /// The bytes that this machine's kernel has taken, and the peer's has not.
    package static func inKernel(of channel: any Channel) -> Int {
        let count = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { descriptor in
            var count: Int32 = 0
            return ioctl(descriptor, Self.request, &count) == 0 ? Int(count) : 0
        }
        return count ?? 0
    }

    /// Both together.
    package static func count(of channel: any Channel) -> Int {
        guard channel.isActive else { return 0 }
        return Self.waiting(in: channel) + Self.inKernel(of: channel)
    }
}

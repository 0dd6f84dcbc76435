import Glibc
package import NIOCore
import TLS

/// The bytes that were written to a connection and that its peer has not acknowledged.
package enum UnsentBytes {
    /// Linux's `SIOCOUTQ` (tcp(7), unix(7)): the bytes that the peer's kernel has not acknowledged.
    private static let request: UInt = 0x5411

    /// Returns the bytes that wait in this program: for the socket, or for encryption.
    package static func waiting(in channel: any Channel) -> Int {
        let buffered = try? channel.syncOptions?.getOption(.bufferedWritableBytes)
        let tls = try? channel.pipeline.syncOperations.handler(type: TLSHandler.self)
        return (buffered ?? 0) + (tls?.pendingBytes ?? 0)
    }

    /// Returns the bytes that this machine's kernel holds and the peer's kernel has not acknowledged.
    package static func inKernel(of channel: any Channel) -> Int {
        let count = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { descriptor in
            var count: Int32 = 0
            return ioctl(descriptor, Self.request, &count) == 0 ? Int(count) : 0
        }
        return count ?? 0
    }

    /// Returns the sum of both.
    package static func count(of channel: any Channel) -> Int {
        guard channel.isActive else { return 0 }
        return Self.waiting(in: channel) + Self.inKernel(of: channel)
    }
}

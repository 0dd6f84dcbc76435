import Glibc
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Platform

/// The connections to a Unix socket, made on a thread: the lookup of the path waits for its disk, which may hang.
///
/// One thread, so that attempts at a disk that hangs pile up no others.
final class SocketPathConnector: Sendable {
    /// Opens a connected descriptor, which does not block; may wait for the disk.
    typealias Open = @Sendable (_ path: String) throws -> Int32

    private let thread = WorkQueue("sockets")
    private let open: Open

    init(open: @escaping Open = SocketPathConnector.open) {
        self.open = open
    }

    /// Connects to the socket at `path`.
    ///
    /// - Returns: a future that fails with `ChannelError.connectTimeout`, or with what the system or the path's length says.
    func connect(to path: String, within limit: TimeAmount, on loop: any EventLoop) -> EventLoopFuture<any Channel> {
        let promise = loop.makePromise(of: (any Channel).self)
        let isLate = NIOLockedValueBox(false)
        let open = self.open
        let timer = loop.scheduleTask(in: limit) {
            isLate.withLockedValue { $0 = true }
            promise.fail(ChannelError.connectTimeout(limit))
        }
        self.thread.perform(on: loop) { () -> Result<Int32, any Error>? in
            // An attempt that waited behind one that hung is not made any more.
            isLate.withLockedValue { $0 } ? nil : Result { try open(path) }
        } then: { result in
            timer.cancel()
            switch result {
            case .success(let descriptor) where isLate.withLockedValue({ $0 }): close(descriptor)
            case .success(let descriptor):
                // From here on the channel closes it.
                promise.completeWith(ClientBootstrap(group: loop).withConnectedSocket(descriptor))
            case .failure(let error): if !isLate.withLockedValue({ $0 }) { promise.fail(error) }
            case nil: break
            }
        }
        return promise.futureResult
    }

    /// Connects by the system's calls.
    @Sendable static func open(_ path: String) throws -> Int32 {
        let address = try SocketAddress(unixDomainSocketPath: path)
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
        guard address.withSockAddr({ Glibc.connect(descriptor, $0, socklen_t($1)) }) == 0 else {
            let number = errno
            close(descriptor)
            throw IOError(errnoCode: number, reason: "connect")
        }
        return descriptor
    }
}

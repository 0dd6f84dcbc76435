import HTTP
import Glibc
import NIOCore

/// The kernel's knowledge of the bytes on their way to a peer. Reading it is a system call, so it is not done per
/// message.
///
/// TCP separates two counts that `SIOCOUTQ` adds up: bytes in flight, which always exist on the way to a distant peer
/// that keeps up, and bytes for which the peer has no buffer space. TCP also counts the bytes that the peer has
/// acknowledged. That count grows even while as many new bytes are written as leave.
struct KernelSendProgress: Equatable {
    /// The bytes that wait in the kernel because the peer has no buffer space for them. For a Unix socket, all bytes
    /// that the peer has not read.
    var waiting = 0
    /// The total of bytes that the peer has acknowledged; `nil` without TCP.
    var taken: Int?
    /// Whether the peer's machine answers what is sent to it, even if only to say that its buffer is full.
    var isAnswered = false

    /// Offsets in Linux's `struct tcp_info` (linux/tcp.h), in bytes. `tcpi_bytes_acked` has 64 bits (since Linux 4.1),
    /// `tcpi_notsent_bytes` 32 bits (since 4.6). Glibc's own declaration ends before them. The first fields are bytes:
    /// `tcpi_retransmits` counts retransmissions, `tcpi_probes` unanswered window probes.
    private static let retransmits = 2
    private static let probes = 3
    /// Milliseconds since data was last sent or retransmitted, and since the peer's last acknowledgement; 32 bits each.
    private static let sinceSent = 44
    private static let sinceAcknowledgement = 56
    private static let bytesAcknowledged = 120
    private static let bytesNotSent = 144
    static let informationBytes = 148
    /// How many unanswered retransmissions or probes in a row mean that the peer is gone; one or two may have been
    /// lost.
    private static let maximumUnanswered = 3

    init(waiting: Int = 0, taken: Int? = nil, isAnswered: Bool = false) {
        self.waiting = waiting
        self.taken = taken
        self.isAnswered = isAnswered
    }

    /// - Parameter channel: the channel, on whose loop this is called. A channel without a socket has nothing in the
    ///   kernel.
    init(of channel: any Channel) {
        guard channel.isActive else { return }
        let pipeline = channel.pipeline.syncOperations
        let reported = try? pipeline.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { descriptor in
            Self.tcp(descriptor)
        }
        // The peer of a Unix socket is on this machine, so it exists while the connection does.
        let isSocket = reported != nil
        self =
            reported.flatMap { $0 }
            ?? KernelSendProgress(waiting: UnsentBytes.inKernel(of: channel), isAnswered: isSocket)
    }

    private static func tcp(_ descriptor: CInt) -> KernelSendProgress? {
        withUnsafeTemporaryAllocation(byteCount: Self.informationBytes, alignment: 8) { information in
            var length = socklen_t(information.count)
            let result = getsockopt(descriptor, CInt(IPPROTO_TCP), TCP_INFO, information.baseAddress, &length)
            guard result == 0, Int(length) == information.count else { return nil }
            return KernelSendProgress(tcp: UnsafeRawBufferPointer(information))
        }
    }

    /// - Parameter information: the first `informationBytes` bytes of `struct tcp_info`, aligned to 8.
    init(tcp information: UnsafeRawBufferPointer) {
        func number(_ offset: Int) -> UInt32 { information.load(fromByteOffset: offset, as: UInt32.self) }
        // Any acknowledgement resets the count of probes, but only one of new data resets the count of retransmissions.
        // A machine with a full small receive buffer drops the bytes and repeats its old acknowledgement; it does
        // answer.
        let hasAnsweredLast = number(Self.sinceAcknowledgement) <= number(Self.sinceSent)
        let isSendingHeard = information[Self.retransmits] < Self.maximumUnanswered || hasAnsweredLast
        self.init(
            waiting: Int(number(Self.bytesNotSent)),
            taken: Int(information.load(fromByteOffset: Self.bytesAcknowledged, as: UInt64.self)),
            isAnswered: isSendingHeard && information[Self.probes] < Self.maximumUnanswered
        )
    }
}

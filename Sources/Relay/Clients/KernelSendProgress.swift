import HTTP
import Glibc
import NIOCore

/// What this machine's kernel knows of the bytes on their way to a peer; read by a system call, so never for a message.
///
/// TCP tells two things apart that `SIOCOUTQ` counts as one: bytes in flight, of which there always are some on the way to a
/// distant peer that keeps up, and bytes that the peer has no room for. And it counts what the peer has acknowledged, which
/// grows even where as much comes after it as leaves.
struct KernelSendProgress: Equatable {
    /// The bytes that wait in the kernel because the peer has no room for them; of a socket file, all that the peer has not read.
    var waiting = 0
    /// All bytes that the peer has acknowledged; nil where there is no TCP.
    var taken: Int?
    /// Whether the peer's machine answers what is sent to it, be it only that there is no room.
    var isAnswered = false

    /// Where Linux's `struct tcp_info` (linux/tcp.h) has `tcpi_bytes_acked`, 64 bits (since Linux 4.1), and
    /// `tcpi_notsent_bytes`, 32 bits (since 4.6), in bytes. Glibc's own declaration ends before them.
    /// The first fields are bytes: `tcpi_retransmits` and `tcpi_probes` count what was sent again and asked without an answer.
    private static let retransmits = 2
    private static let probes = 3
    /// Milliseconds since data was last sent, be it again, and since the peer last acknowledged anything; 32 bits each.
    private static let sinceSent = 44
    private static let sinceAcknowledgement = 56
    private static let bytesAcknowledged = 120
    private static let bytesNotSent = 144
    static let informationBytes = 148
    /// How many of them in a row mean that nobody is there; one or two may have been lost.
    private static let maximumUnanswered = 3

    init(waiting: Int = 0, taken: Int? = nil, isAnswered: Bool = false) {
        self.waiting = waiting
        self.taken = taken
        self.isAnswered = isAnswered
    }

    /// - Parameter channel: on whose loop this is called. One without a socket of its own has nothing in the kernel.
    init(of channel: any Channel) {
        guard channel.isActive else { return }
        let pipeline = channel.pipeline.syncOperations
        let reported = try? pipeline.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { descriptor in
            Self.tcp(descriptor)
        }
        // A socket file's peer is on this machine: as long as there is a connection, it is there.
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
        // Any acknowledgement ends the count of probes, but only a new one that of what was sent again. A machine whose
        // small receive buffer is full drops the bytes and acknowledges the old ones each time: it answers all the same.
        let hasAnsweredLast = number(Self.sinceAcknowledgement) <= number(Self.sinceSent)
        let isSendingHeard = information[Self.retransmits] < Self.maximumUnanswered || hasAnsweredLast
        self.init(
            waiting: Int(number(Self.bytesNotSent)),
            taken: Int(information.load(fromByteOffset: Self.bytesAcknowledged, as: UInt64.self)),
            isAnswered: isSendingHeard && information[Self.probes] < Self.maximumUnanswered
        )
    }
}

import Testing
@testable import Relay

@Suite("The kernel's send progress")
struct KernelSendProgressTests {
    /// Returns the progress read from the `struct tcp_info` of a connection.
    ///
    /// - Parameters:
    ///   - sinceSent: milliseconds since data was last sent.
    ///   - sinceAcknowledgement: milliseconds since the peer last acknowledged anything.
    private func sendProgress(
        retransmits: UInt8 = 0,
        probes: UInt8 = 0,
        sinceSent: UInt32,
        sinceAcknowledgement: UInt32
    ) -> KernelSendProgress {
        withUnsafeTemporaryAllocation(byteCount: KernelSendProgress.informationBytes, alignment: 8) { bytes in
            for index in bytes.indices { bytes[index] = 0 }
            bytes[2] = retransmits
            bytes[3] = probes
            bytes.storeBytes(of: sinceSent, toByteOffset: 44, as: UInt32.self)
            bytes.storeBytes(of: sinceAcknowledgement, toByteOffset: 56, as: UInt32.self)
            bytes.storeBytes(of: 7_000, toByteOffset: 120, as: UInt64.self)
            bytes.storeBytes(of: 300, toByteOffset: 144, as: UInt32.self)
            return KernelSendProgress(tcp: UnsafeRawBufferPointer(bytes))
        }
    }

    @Test("a machine that leaves three transmissions unanswered is gone")
    func isGone() {
        #expect(self.sendProgress(retransmits: 2, sinceSent: 100, sinceAcknowledgement: 2_000).isAnswered)
        #expect(!self.sendProgress(retransmits: 3, sinceSent: 100, sinceAcknowledgement: 2_000).isAnswered)
        // Probes carry no data, so the last data can be older than the last acknowledgement.
        #expect(self.sendProgress(probes: 2, sinceSent: 90_000, sinceAcknowledgement: 60_000).isAnswered)
        #expect(!self.sendProgress(probes: 3, sinceSent: 90_000, sinceAcknowledgement: 60_000).isAnswered)
    }

    @Test("a machine that drops bytes beyond its buffer space and acknowledges the old ones is there")
    func isFull() {
        let full = self.sendProgress(retransmits: 9, sinceSent: 5_000, sinceAcknowledgement: 5_000)
        #expect(full == KernelSendProgress(waiting: 300, taken: 7_000, isAnswered: true))
    }
}

import Relay
import Dispatch
import Glibc
import Testing
@testable import Tickertape

@Suite("The health check")
struct HealthProbeTests {
    /// Probes a server that answers one connection with the given bytes, and then closes it or lets it hang.
    ///
    /// The server has a thread of its own, since both sides block.
    private func probe(
        _ answer: String?,
        limit: Int64 = 5_000,
        hangs: Bool = false
    ) -> Result<String, HealthProbe.Failure> {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(listener, $0, length)
                _ = getsockname(listener, $0, &length)
            }
        }
        listen(listener, 1)
        let finished = DispatchSemaphore(value: 0)
        let probed = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            defer { finished.signal() }
            guard let answer else { return }
            let client = accept(listener, nil, nil)
            defer { close(client) }
            var request = [UInt8](repeating: 0, count: 1_024)
            let count = recv(client, &request, request.count, 0)
            let text = String(decoding: request.prefix(max(count, 0)), as: UTF8.self)
            #expect(text.hasPrefix("GET /livez HTTP/1.1\r\nHost: localhost:"))
            let bytes = Array(answer.utf8)
            send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            if hangs { probed.wait() }
        }
        let endpoint = Endpoint(host: "localhost", port: Int(UInt16(bigEndian: address.sin_port)))
        let result = Result { () throws(HealthProbe.Failure) in
            try HealthProbe(place: .endpoint(endpoint), limit: limit).statusLine()
        }
        probed.signal()
        finished.wait()
        close(listener)
        return result
    }

    @Test("a 200 is health")
    func healthy() throws {
        #expect(try self.probe("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").get() == "HTTP/1.1 200 OK")
    }

    @Test(
        "any other answer is not",
        arguments: ["HTTP/1.1 503 no\r\n\r\n", "", "HTTP/1.1 2", "garbage\n", String(repeating: "x", count: 4_000)]
    )
    func ill(answer: String) {
        #expect(throws: HealthProbe.Failure.self) { try self.probe(answer).get() }
    }

    @Test("that of a relay with TLS names the setting that is missing")
    func encrypted() {
        let result = self.probe("HTTP/1.1 400 Bad Request\r\n\r\n")
        let failure = #expect(throws: HealthProbe.Failure.self) { try result.get() }
        #expect(failure?.reason.contains("set relay.certificate-file") == true)
    }

    @Test("an answer that does not come, or not to its end, is given up in time")
    func silent() {
        for answer in [nil, "", "HTTP/1.1 2"] {
            let result = self.probe(answer, limit: 1_000, hangs: true)
            let failure = #expect(throws: HealthProbe.Failure.self) { try result.get() }
            #expect(failure?.reason == "does not answer in time")
        }
    }

    @Test("nobody there is told as that")
    func nobody() {
        let failure = #expect(throws: HealthProbe.Failure.self) {
            try HealthProbe(place: .endpoint(Endpoint(host: "::1", port: 1)), limit: 1_000).statusLine()
        }
        #expect(failure?.reason.hasPrefix("cannot be reached") == true)
    }
}

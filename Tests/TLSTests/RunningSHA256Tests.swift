import TLS
import Testing

@Suite("A running SHA-256")
struct RunningSHA256Tests {
    private func digest(_ pieces: [String]) -> String {
        var running = RunningSHA256()
        for piece in pieces { Array(piece.utf8).withUnsafeBytes { running.take($0) } }
        return running.finish()
    }

    @Test("gives the digests of FIPS 180-4, however the bytes are cut")
    func knownDigests() {
        #expect(self.digest([]) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(self.digest(["abc"]) == abc && self.digest(["", "a", "", "bc"]) == abc)
        let long = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
        let expected = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        #expect(self.digest([long]) == expected && self.digest(long.map { String($0) }) == expected)
    }

    @Test("counts what it takes")
    func counts() {
        var running = RunningSHA256()
        Array("tape".utf8).withUnsafeBytes { running.take($0) }
        Array("".utf8).withUnsafeBytes { running.take($0) }
        #expect(running.count == 4)
    }

    @Test("goes on after a digest, and separately from its copies")
    func copies() {
        var running = RunningSHA256()
        Array("a".utf8).withUnsafeBytes { running.take($0) }
        var copy = running
        Array("bc".utf8).withUnsafeBytes { running.take($0) }
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(running.finish() == abc && running.finish() == abc)
        #expect(copy.finish() == self.digest(["a"]))
        Array("bc".utf8).withUnsafeBytes { copy.take($0) }
        #expect(copy.finish() == abc)
    }
}

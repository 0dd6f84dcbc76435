import Market
import Testing

@Suite struct ExactSumTests {
    @Test("a sum that outgrows 18 digits stays exact")
    func outgrows() throws {
        var sum = ExactSum()
        let large = try #require(ExactDecimal("999999999999999999"))
        let small = try #require(ExactDecimal("0.00000001"))
        for _ in 0..<1_000 {
            sum.add(large)
            sum.add(small)
        }
        #expect(sum.description == "999999999999999999000.00001")
        #expect(sum.decimal == nil)
        #expect(sum.omitted == 0)
        #expect(ExactSum(sum.description) == sum)
    }

    @Test("a day of small trades adds up to the last digit")
    func day() throws {
        var sum = ExactSum()
        let size = try #require(ExactDecimal("0.00009"))
        for _ in 0..<100_000 { sum.add(size) }
        #expect(sum.description == "9")
        #expect(sum.decimal == ExactDecimal("9"))
    }

    @Test("an addend that no 38 digits can hold with the others is counted, and the sum stays")
    func omitted() throws {
        var sum = ExactSum(try #require(ExactDecimal("1.5")))
        for text in ["1e300", "1e-300", "1e38", "999999999999999999e37"] { sum.add(try #require(ExactDecimal(text))) }
        #expect(sum.description == "1.5")
        #expect(sum.omitted == 4)
        sum.add(try #require(ExactDecimal("0.5")))
        #expect(sum.description == "2")
    }

    @Test(
        "what is no number is no sum",
        arguments: [
            "", "-", "1.2.3", "01234567890123456789", "1234567890123456789x", "1e",
            // The smallest and the largest 64-bit integers as powers of ten.
            "1e-9223372036854775808", "1e9223372036854775807", "1234567890123456789e-9223372036854775808", "1e1001",
        ]
    )
    func refused(text: String) { #expect(ExactSum(text) == nil) }
}

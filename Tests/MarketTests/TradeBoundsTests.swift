import Market
import Testing

@Suite struct TradeBoundsTests {
    @Test(
        "a price is above zero, below 10^18, and has at most 30 decimals",
        arguments: [
            ("0.00000000000000000000000000001", true), ("1e-30", true), ("1e-31", false), ("1.5e-30", false),
            ("999999999999999999", true), ("1e18", false), ("1e17", true), ("9.9e17", true), ("1e999", false),
            ("1e-999", false), ("0", false), ("-1", false), ("0.0000001234", true), ("1.2300000000000001e-05", true),
        ]
    )
    func prices(text: String, isOne: Bool) throws {
        #expect(TradeBounds.canBePrice(try #require(ExactDecimal(text))) == isOne)
    }

    @Test(
        "a size is not negative, below 10^18, and has at most 18 decimals",
        arguments: [
            ("0", true), ("1e-18", true), ("1e-19", false), ("0.000000000000000123", true),
            ("999999999999999999", true),
            ("12345678901234", true), ("1e18", false), ("1e400", false), ("-0.1", false),
        ]
    )
    func sizes(text: String, isOne: Bool) throws {
        #expect(TradeBounds.canBeSize(try #require(ExactDecimal(text))) == isOne)
    }

    @Test("a hundred sizes, the largest and the smallest there are in turn, add up exactly")
    func sums() throws {
        var sum = ExactSum()
        for _ in 0..<50 {
            sum.add(try #require(ExactDecimal("999999999999999999")))
            sum.add(try #require(ExactDecimal("0.000000000000000001")))
        }
        #expect(sum.isWhole && sum.description == "49999999999999999950.00000000000000005")
        #expect(TradeBounds.canBeVolume(sum))
    }

    @Test(
        "a volume is what sizes can add up to",
        arguments: [
            ("99999999999999999999999999999999999999", true), ("1e37", true), ("1e38", false), ("12e36", true),
            ("123e36", false), ("0", true), ("-1", false), ("1e-18", true), ("1e-19", false), ("1e400", false),
        ]
    )
    func volumes(text: String, isOne: Bool) throws {
        #expect(TradeBounds.canBeVolume(try #require(ExactSum(text))) == isOne)
    }
}

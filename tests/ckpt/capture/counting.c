/* counting.c - a library with a static of its own. */
int COUNT_NAME(void);

int COUNT_NAME(void)
{
    static int count = 100;

    return count++;
}
